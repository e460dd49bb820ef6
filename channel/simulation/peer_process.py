"""The process of a side with its directory, as its parent sees it, and the traffic between two.

Both talk over the network. The parent says when each takes what comes to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import methodcaller

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    DeckComputed,
    Effect,
    Event,
    Push,
    Received,
)
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.channel.simulation.remote_actor import handled
from channelsim.channel.simulation.side_process import Work, open_side
from channelsim.channel.store.keys_file import write_keys


@dataclass
class Traffic:
    """The processes of both sides, and who wants to push a bundle to the node.

    `address` is where the receiver listens.
    """

    sides: list[PeerProcess] = field(default_factory=list)
    pushers: dict[Bundle, PeerProcess] = field(default_factory=dict)
    address: tuple[str, int] = ("127.0.0.1", 0)

    def link(self) -> None:
        """Link both sides, the receiver first, and wait until they have a connection."""
        for side in (Side.RECEIVER, Side.INITIATOR):
            self.address = self.sides[side].child.ask("link", self.address)
        for process in self.sides:
            process.child.ask("wait_for_link")


class PeerProcess:
    """The process of the side with these keys, which takes part in the traffic."""

    def __init__(self, config: Config, work: Work, traffic: Traffic) -> None:
        self._traffic = traffic
        write_keys(work.directory, config)
        self.child = ChildProcess("a peer's process", open_side, work)
        traffic.sides.append(self)

    def call_of(self, event: Event) -> methodcaller:
        """The call for an event: the process itself takes what comes from outside."""
        match event:
            case Received():
                return methodcaller("take_message")
            case Block():
                return methodcaller("look_at_chain")
            case DeckComputed(result):
                return methodcaller("take_step", result)
            case _:
                return handled(event)

    def follow(self, effects: Sequence[Effect]) -> None:
        """Note the bundles that it wants to push."""
        for effect in effects:
            if isinstance(effect, Push):
                self._traffic.pushers[effect.bundle] = self

    def push(self, bundle: Bundle) -> PushResult:
        """Let the process push a bundle."""
        result = self.child.ask("offer", bundle)
        if not isinstance(result, PushResult):
            raise InvariantError("a peer's process is out of step: it does not push")
        return result
