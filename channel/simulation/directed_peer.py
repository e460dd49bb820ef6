"""The actor of a side whose process the parent directs, and compares with a copy of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.interface import (
    ComputeDeck,
    Connected,
    DeckComputed,
    Effect,
    Event,
    Push,
    Received,
    Send,
)
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.directed_process import (
    REFUSED,
    AskToBreak,
    Begin,
    FinishBlock,
    LookAtChain,
    Offer,
    Order,
    Reconnect,
    Relink,
    Rewind,
    TakeMessage,
    TakeStep,
    travels,
)
from channelsim.channel.simulation.old_copy import RestoredPeer
from channelsim.channel.simulation.process_peer import effects_digest
from channelsim.channel.simulation.side_process import SideProcess


@dataclass
class Common:
    """What the parent knows of both processes.

    `waiting` counts the messages that are on their way to each side, `pushers` says who wants to
    push a bundle, and `rewound` are the results of rewinds that a process has not heard. `restored`
    is a side whose process is another one since the last connection.
    """

    waiting: list[int] = field(default_factory=lambda: [0, 0])
    pushers: dict[Bundle, DirectedPeer] = field(default_factory=dict)
    rewound: list[bool] = field(default_factory=list)
    restored: Side | None = None
    _orders: dict[Side, Reconnect | Relink] = field(default_factory=dict)

    def reconnection(self, side: Side) -> Reconnect | Relink:
        """This side's part of a new connection, which both sides make at once."""
        if not self._orders:
            self._orders = {one: Reconnect(self.waiting[one]) for one in Side}
            if self.restored is not None:
                self._orders = {self.restored: Reconnect(0), self.restored.other: Relink()}
            self.waiting, self.restored = [0, 0], None
        return self._orders.pop(side)


class DirectedPeer:
    """Stands in for `actor`, its copy, before a driver."""

    def __init__(self, side: Side, actor: Actor, process: SideProcess, common: Common) -> None:
        self._side = side
        self._actor = actor
        self._process = process
        self._common = common
        self._steps = self._forgotten_steps = 0
        if isinstance(actor, RestoredPeer):
            actor.on_copy = process.copy

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height."""
        return self._both(Begin(peak), lambda: self._actor.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Let the process handle an event: one that it gets by itself, or this command.

        Raises `UsageError` for a command that is not possible now, and `PeerStopped` when the
        process was restored from an older copy.
        """
        if isinstance(self._actor, RestoredPeer) and self._actor.is_due(event):
            self._process.restore(listens=self._side is Side.RECEIVER)
            self._common.restored = self._side
            self._forgotten_steps, self._steps = self._forgotten_steps + self._steps, 0
            return self._actor.handle(event)
        return self._both(self._order(event), lambda: self._actor.handle(event))

    def finish_block(self) -> list[Effect]:
        """An adversary's last effects after a block."""
        adversary = self._adversary()
        return self._both(FinishBlock(), adversary.finish_block)

    def breaks_connection(self) -> bool:
        """True if an adversary breaks the connection now."""
        self._process.ask(AskToBreak())
        breaks = self._adversary().breaks_connection()
        if self._process.answer() != breaks:
            raise self._out_of_step(AskToBreak())
        return breaks

    def offer(self, bundle: Bundle) -> PushResult:
        """Let the process push a bundle."""
        self._process.ask(Offer(bundle))
        result = self._process.answer()
        if not isinstance(result, PushResult):
            raise self._out_of_step("a push")
        return result

    def _adversary(self) -> Adversary:
        if not isinstance(self._actor, Adversary):
            raise InvariantError(f"the {NAMES[self._side]} is not an adversary")
        return self._actor

    def _order(self, event: Event) -> Order:
        match event:
            case Received(message) if travels(message):
                self._common.waiting[self._side] -= 1
                return TakeMessage()
            case Block():
                return LookAtChain(
                    frozenset(
                        one.coin.id
                        for one in event.coins
                        if one.spent is not None and one.solution is None
                    )
                )
            case DeckComputed() if self._forgotten_steps:
                self._forgotten_steps -= 1  # the process that began it is no more
                return event
            case DeckComputed():
                self._steps -= 1
                return TakeStep()
            case Connected():
                return self._common.reconnection(self._side)
            case _:
                return event

    def _both(self, order: Order, react: Callable[[], list[Effect]]) -> list[Effect]:
        """Let the process and its copy react, and compare them.

        The copy follows when the process is done, or when it replaces blocks: both have to see the
        chain as it was before, and as it is after that.
        """
        self._process.ask(order)
        found: list[Effect] | UsageError | None = None
        answer = self._process.answer()
        while isinstance(answer, Rewind):
            if found is None:
                found = _outcome(react)
            if not self._common.rewound:
                raise self._out_of_step(answer)
            self._process.ask(self._common.rewound.pop(0))
            answer = self._process.answer()
        if found is None:
            found = _outcome(react)
        expected = REFUSED if isinstance(found, UsageError) else effects_digest(found)
        if answer != expected or self._common.rewound:
            raise self._out_of_step(order)
        if isinstance(found, UsageError):
            raise found
        self._common.pushers |= {one.bundle: self for one in found if isinstance(one, Push)}
        sent = [one for one in found if isinstance(one, Send) and travels(one.message)]
        self._common.waiting[self._side.other] += len(sent)
        self._steps += sum(isinstance(one, ComputeDeck) for one in found)
        return found

    def _out_of_step(self, order: object) -> InvariantError:
        return InvariantError(
            f"the {NAMES[self._side]}: its process and its copy react differently to {order}"
        )


def _outcome(react: Callable[[], list[Effect]]) -> list[Effect] | UsageError:
    try:
        return react()
    except UsageError as error:
        return error
