"""Several adversaries at once: what one of them makes possible another one uses."""

from __future__ import annotations

from channel.adversaries.base import Adversary, Plan, get, names, register
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.peer.machine import Peer
from channel.protocol.messages import Message

FACES = 3
"""How many others it is."""


@register
class Chameleon(Adversary):
    """Each of the others has a hand in what the same peer says and pushes."""

    name = "chameleon"
    about = "is three of the others at once, which ones by chance"

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        others = [name for name in names() if name != self.name]
        picked = [plan.chance.pick(others) for _ in range(FACES)]
        self.faces = [get(name)(peer, plan) for name in picked]

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """What one of them says; where that is nothing new, another one."""
        for face in self._faces():
            said = face.say(message, blob)
            if said != [blob]:
                return said
        return [blob]

    def push(self, push: Push) -> list[Effect]:
        """What one of them pushes in its place."""
        for face in self._faces():
            pushed = face.push(push)
            if pushed != [push]:
                return pushed
        return [push]

    def block(self, block: Block) -> list[Effect]:
        """What all of them do with a block."""
        return [effect for face in self._faces() for effect in face.block(block)]

    def act(self) -> list[Effect]:
        """What all of them do of their own accord."""
        return [effect for face in self._faces() for effect in face.act()]

    def last(self) -> list[Effect]:
        """What all of them do in the end; only one of them can replace blocks."""
        return [effect for face in self._faces() for effect in face.last()]

    def _faces(self) -> list[Adversary]:
        """Them, in any order, each as far as the session is; taking note of what they did."""
        left, faces = list(self.faces), []
        self.done = any(face.done for face in left)
        while left:
            faces.append(left.pop(self.plan.chance.below(len(left))))
        for face in faces:
            face.said, face.meant = self.said, self.meant
        return faces
