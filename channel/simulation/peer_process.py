"""The process of a side with its directory, as its parent sees it, and the traffic between two.

In a session both talk over the network. The parent says when each takes what comes to it, and
counts what is under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from operator import methodcaller

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    Connected,
    DeckComputed,
    Effect,
    Event,
    Push,
    Received,
    Send,
)
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.channel.simulation.side_process import Work, open_side, travels
from channelsim.channel.store.interface import Contents
from channelsim.channel.store.keys_file import read_keys, write_keys
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore


@dataclass
class Traffic:
    """The processes of both sides, and what is under way between them and to the node.

    `waiting` counts the messages on their way to each side, and `pushers` says who wants to push
    a bundle. `address` is where the receiver listens.
    """

    sides: list[PeerProcess] = field(default_factory=list)
    waiting: list[int] = field(default_factory=lambda: [0, 0])
    pushers: dict[Bundle, PeerProcess] = field(default_factory=dict)
    address: tuple[str, int] = ("127.0.0.1", 0)
    _lost: dict[Side, int] = field(default_factory=dict)

    def link(self, *sides: Side) -> None:
        """Link these sides, whose processes are new, and wait until both have a connection."""
        for side in sides:
            self.address = self.sides[side].child.ask("link", self.address)
        for process in self.sides:
            process.child.ask("wait_for_link")
        self.waiting = [0, 0]

    def lost(self, side: Side) -> int:
        """How many messages to this side a new connection loses; both sides make it at once."""
        if not self._lost:
            self._lost, self.waiting = dict(zip(Side, self.waiting, strict=True)), [0, 0]
        return self._lost.pop(side)


class PeerProcess:
    """The process of the side with these keys; in a session it takes part in the traffic there."""

    def __init__(self, config: Config, work: Work, traffic: Traffic | None = None) -> None:
        self.side = config.side
        self.work = work
        self._traffic = traffic
        write_keys(work.directory, config)
        self.child = ChildProcess("a peer's process", open_side, work)

    # --- its directory ---

    def stored(self) -> Contents:
        """What its store has, once the process has ended."""
        directory = self.work.directory
        with closing(SealedStore(SqliteStore(directory), read_keys(directory).secret)) as store:
            return store.load()

    def restart(self) -> None:
        """Kill the process, and begin another one."""
        self.child.kill()
        self.child.begin()

    # --- what comes to it ---

    def call_of(self, event: Event) -> methodcaller:
        """The call for an event: in a session the process itself takes what comes from outside."""
        traffic = self._traffic
        if traffic is not None:
            match event:
                case Received(message) if travels(message):
                    traffic.waiting[self.side] -= 1
                    return methodcaller("take_message")
                case Block(_, coins):
                    spent = (seen for seen in coins if seen.spent is not None)
                    hidden = frozenset(seen.coin.id for seen in spent if seen.solution is None)
                    return methodcaller("look_at_chain", hidden)
                case DeckComputed(result):
                    return methodcaller("take_step", result)
                case Connected():
                    return methodcaller("reconnect", traffic.lost(self.side))
                case _:
                    pass
        return methodcaller("handle", event)

    def follow(self, effects: Sequence[Effect]) -> None:
        """Count what these effects put under way."""
        if self._traffic is None:
            return
        for effect in effects:
            match effect:
                case Push(_, bundle):
                    self._traffic.pushers[bundle] = self
                case Send(message) if travels(message):
                    self._traffic.waiting[self.side.other] += 1
                case _:
                    pass

    def push(self, bundle: Bundle) -> PushResult:
        """Let the process push a bundle."""
        result = self.child.ask("offer", bundle)
        if not isinstance(result, PushResult):
            raise InvariantError("a peer's process is out of step: it does not push")
        return result
