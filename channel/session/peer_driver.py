"""The driver of one peer: it gives the peer its events, and carries out every effect in order.

It does no I/O: `Ports` lead to the other side, the node and the threads. `driver.py` composes two
of it on one node; `peer_runner.py` runs one of it by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, assert_never

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.peer.interface import (
    Cancelled,
    ComputeDeck,
    Dropped,
    Effect,
    Erase,
    Event,
    FeeRate,
    Proposed,
    Push,
    Send,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.push_answers import fate
from channelsim.channel.session.questions import Questions
from channelsim.channel.session.session_events import Handled, NewsFor, Pushed, Sent, SessionEvent
from channelsim.games.deck.work import DeckWork


class Actor(Protocol):
    """A peer, or something that stands in for one."""

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height of the chain, or come back after a restart."""
        ...

    def handle(self, event: Event) -> list[Effect]:
        """React to an event. Raises `UsageError` for a command that is not possible now."""
        ...


class PeerStopped(Exception):
    """Raised by an actor whose process ended while the driver carried out its effects.

    `effects` are those of the event, of which the first `carried_out` were; None if the event
    itself was lost.
    """

    def __init__(self, effects: list[Effect] | None, carried_out: int = 0) -> None:
        super().__init__()
        self.effects = effects
        self.carried_out = carried_out


@dataclass(slots=True)
class DrivenPeer:
    """One side of the channel: its actor, and what the driver keeps for it.

    `questions` are the proposals and turns that its player has not answered yet. A peer that
    `pays_fees` hears of the node's rate.
    """

    name: str
    actor: Actor
    watched: list[Coin] = field(default_factory=list)
    questions: Questions = field(default_factory=Questions)
    pays_fees: bool = False

    def next_question(self) -> Proposed | YourTurn | None:
        """Take the player's next question: whoever takes it answers it before the next event."""
        question = self.questions.next()
        if question is not None:
            self.questions.answered(question)
        return question


class Ports(Protocol):
    """Where a peer's effects lead."""

    def send(self, message: bytes) -> None:
        """Send a message to the other side."""
        ...

    def push(self, push: Push) -> None:
        """Offer a bundle to the node; `PeerDriver.pushed` takes its answer."""
        ...

    def compute(self, work: DeckWork) -> None:
        """Compute a step of a deck, and report it with `DeckComputed`."""
        ...

    def notify(self, event: SessionEvent) -> None:
        """Pass an event to those who listen."""
        ...

    def restart(self) -> None:
        """Start the actor again, whose process ended."""
        ...


class PeerDriver:
    """Drives one peer. `fee_rate` is the one that it knows of its node; None if that is open."""

    def __init__(self, peer: DrivenPeer, ports: Ports, fee_rate: int | None = 0) -> None:
        self.peer = peer
        self._ports = ports
        self._fee_rate = fee_rate

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height of the chain; carry out the effects, and return them."""
        return self._let(None, partial(self.peer.actor.start, peak))

    def handle(self, event: Event) -> list[Effect]:
        """Give the peer an event, carry out its effects, and return them.

        Raises `UsageError` for a command that is not possible now.
        """
        return self._let(event, partial(self.peer.actor.handle, event))

    def pushed(
        self, push: Push, result: PushResult, pending: tuple[PendingBundle, ...] = ()
    ) -> None:
        """Take the node's answer to a push; `pending` are the bundles that spend its coins."""
        result, event = fate(push.bundle, result, pending)
        self._ports.notify(Pushed(self.peer.name, push.name, push.bundle, result))
        if isinstance(event, Dropped):
            event = Dropped(event.bundle, push.name)
        if event is not None:
            self.handle(event)

    def report_fee_rate(self, rate: int) -> None:
        """Give the peer the fee rate that its node asks, unless it has that one."""
        if rate != self._fee_rate:
            self._fee_rate = rate
            self.handle(FeeRate(rate))

    def forget_fee_rate(self) -> None:
        """Give the peer the next fee rate in any case: a restart may have taken it back."""
        self._fee_rate = None

    def carry_out(self, effects: Sequence[Effect]) -> None:
        """Carry out effects, in order."""
        peer = self.peer
        for effect in effects:
            match effect:
                case Send(message):
                    self._ports.notify(Sent(peer.name, message))
                    self._ports.send(message)
                case Push():
                    self._ports.push(effect)
                case Erase():
                    pass  # a durable peer has seen to it
                case Watch(coin):
                    peer.watched.append(coin)
                case ComputeDeck(work):
                    self._ports.compute(work)
                case Tell(news):
                    if isinstance(news, Proposed | YourTurn):
                        peer.questions.ask(news)
                    elif isinstance(news, Cancelled):
                        peer.questions.withdrawn(news.group)
                    self._ports.notify(NewsFor(peer.name, news))
                case _:
                    assert_never(effect)

    def _let(self, event: Event | None, react: Callable[[], list[Effect]]) -> list[Effect]:
        """Let the peer react to an event (None: its start); carry out and return its effects."""
        try:
            effects = react()
        except PeerStopped as stopped:
            effects = stopped.effects or []
            if stopped.effects is not None:
                self._ports.notify(Handled(self.peer.name, event, tuple(effects)))
            self.carry_out(effects[: stopped.carried_out])
            self._ports.restart()
            return effects
        self._ports.notify(Handled(self.peer.name, event, tuple(effects)))
        self.carry_out(effects)
        return effects
