"""Adversaries that deviate in several ways, chosen at random."""

from __future__ import annotations

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.adversaries.on_chain import OnChainCheat
from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Effect, GoOnChain, Push
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.half_signed import preempt, time_out
from channelsim.channel.protocol.messages import Batch, Message, Request, encode
from channelsim.games import registry

FACES = 3
"""The adversaries that a chameleon combines."""


@adversary("chameleon", "combines three other adversaries, chosen at random")
class _Chameleon(Adversary):
    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        games = [registry.get(name) for name in plan.games]
        others = [
            name for name in names() if name != self.name and not get(name).reason_against(games)
        ]
        picked = [plan.chance.pick(others) for _ in range(FACES)]
        self.faces = [get(name)(peer, plan) for name in picked]

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The messages of the first that changes this one."""
        for face in self._faces():
            sent = face.send(message, blob)
            if sent != [blob]:
                return sent
        return [blob]

    def push(self, push: Push) -> list[Effect]:
        """The effects of the first that changes this push."""
        for face in self._faces():
            pushed = face.push(push)
            if pushed != [push]:
                return pushed
        return [push]

    def block(self, block: Block) -> list[Effect]:
        return [effect for face in self._faces() for effect in face.block(block)]

    def act(self) -> list[Effect]:
        return [effect for face in self._faces() for effect in face.act()]

    def last(self) -> list[Effect]:
        return [effect for face in self._faces() for effect in face.last()]

    def _faces(self) -> list[Adversary]:
        """The three in random order, updated to the newest state."""
        left, faces = list(self.faces), []
        self.done = any(face.done for face in left)
        while left:
            faces.append(left.pop(self.plan.chance.below(len(left))))
        for face in faces:
            face.sent_count, face.intended = self.sent_count, self.intended
        return faces


@adversary("madman", "does something random at every turn, on and off chain")
class _Madman(OnChainCheat):
    needs_game = False

    def act(self) -> list[Effect]:
        # It goes on chain at a random block.
        return []

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The message, nothing, the message twice, or another one beside it."""
        kind = self.plan.chance.below(12)
        self.done = True
        if kind == 0:
            return []
        if kind == 1:
            return [blob, blob]
        if kind == 2:
            return [encode(Request()), blob]
        if kind == 3 and isinstance(message, Batch) and self.before() is not None:
            return [blob, self.batch(self.state, ())]
        return [blob]

    def push(self, push: Push) -> list[Effect]:
        return [] if self.plan.chance.below(4) == 0 else [push]

    def block(self, block: Block) -> list[Effect]:
        """Push random spends of whatever is unspent."""
        effects: list[Effect] = []
        states = self.completable()
        chance = self.plan.chance
        if not self.due or not states:
            return effects
        if self.dispute is None and chance.below(8) == 0:
            effects += self.command(GoOnChain("why not")) or []
        if chance.below(3) == 0:
            effects.append(Push("any state", self.publishes(chance.pick(states))))
        if chance.below(3) == 0:
            link = chance.pick([*self.peer.play.history])
            bundle = preempt(self.channel, self.keys, chance.pick(states), link.state)
            effects.append(Push("any preemption", bundle))
        if chance.below(3) == 0:
            link = chance.pick([*self.peer.play.history])
            effects.append(Push("any timeout", time_out(self.channel, link.state)))
        for tracked, _ in self.unspent_games(block):
            coin = tracked.game.coin
            if chance.below(2):
                effects.append(self.claim(tracked))
                continue
            share = chance.below(coin.amount + 1)
            size = min(coin.max_move_size, 40)
            if coin.infohash_b and tracked.game.mover is self.side:
                other = coin.after(chance.bytes(size), chance.bytes(32), share, size)
                effects.append(self.move("any move", tracked, other))
        return effects
