"""The driver of two peers: it feeds them events and carries out every effect they return.

It delivers messages, offers spends to the node, stores records, makes blocks and reports them.
What the players decide comes from outside, as commands. Listeners hear of everything that it does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, assert_never, runtime_checkable

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import Answer, FarmableChain, PushResult, blocks_for
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import (
    ComputeDeck,
    DeckComputed,
    Effect,
    Event,
    Pinned,
    Proposed,
    Push,
    Received,
    Send,
    Store,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.session.deck_works import Computing, on_demand
from channelsim.channel.session.session_events import (
    BlockMade,
    Handled,
    Listener,
    NewsFor,
    Pushed,
    Sent,
    SessionEvent,
)
from channelsim.games.deck.work import DeckResult


class Actor(Protocol):
    """A peer, or something that stands in for one."""

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height of the chain."""
        ...

    def handle(self, event: Event) -> list[Effect]:
        """React to an event. Raises `UsageError` for a command that is not possible now."""
        ...


@runtime_checkable
class Resumable(Actor, Protocol):
    """An actor that goes on after a lost connection or a restart.

    After a restart, `start` returns what a driver has to know again.
    """

    def reconnected(self) -> list[Effect]:
        """Repeat what the other side may not have."""
        ...


class PeerStopped(Exception):
    """Raised by a `Resumable` whose process ended while the driver carried out its effects.

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

    `records` holds the newest bytes stored under each name. `questions` are the proposals and
    turns that its player has not answered yet.
    """

    name: str
    actor: Actor
    watched: list[Coin] = field(default_factory=list)
    records: dict[str, bytes] = field(default_factory=dict)
    questions: list[Proposed | YourTurn] = field(default_factory=list)


class Delivery(Protocol):
    """Delivery of spends to the node, and of blocks to the peers."""

    def delay(self, index: int) -> int:
        """The number of blocks to hold back a spend that this peer pushes now."""
        ...

    def offer(self, bundle: Bundle) -> PushResult | None:
        """Offer a bundle to the node; None if it was not offered."""
        ...

    def after_block(self) -> None:
        """Change the chain after a new block, before the peers hear of it."""
        ...

    def reaches(self, index: int) -> bool:
        """True if this peer hears of the newest block."""
        ...

    def view(self, index: int, block: Block) -> Block:
        """The block as this peer's node reports it."""
        ...


class DirectDelivery:
    """Delivery at once and in full."""

    def __init__(self, chain: FarmableChain) -> None:
        self.offer = chain.push

    def delay(self, index: int) -> int:
        """Hold nothing back."""
        return 0

    def after_block(self) -> None:
        """Leave the chain as it is."""

    def reaches(self, index: int) -> bool:
        """Report every block."""
        return True

    def view(self, index: int, block: Block) -> Block:
        """Report all of a block."""
        return block


class Driver:
    """Runs two peers on one chain. An index is a `Side`: 0 is the initiator.

    `messages` are on their way, each with the index of its receiver. `computing` are the steps of
    decks that are being computed, oldest first, each with the index of its peer.
    """

    def __init__(
        self,
        chain: FarmableChain,
        peers: tuple[DrivenPeer, DrivenPeer],
        listeners: Sequence[Listener] = (),
        delivery: Delivery | None = None,
        compute_deck: Computing | None = None,
    ) -> None:
        self.chain = chain
        self.peers = peers
        self.messages: deque[tuple[int, bytes]] = deque()
        self.computing: deque[tuple[int, Callable[[], DeckResult]]] = deque()
        self._compute_deck = compute_deck or on_demand()
        self._listeners = tuple(listeners)
        self._delivery = delivery or DirectDelivery(chain)
        self._held_back: list[tuple[int, int, Push]] = []

    def notify(self, event: SessionEvent) -> None:
        """Pass an event to every listener."""
        for listener in self._listeners:
            listener(event)

    # --- events ---

    def start(self) -> None:
        """Begin both peers, the initiator first."""
        peak = self.chain.peak()
        for index, peer in enumerate(self.peers):
            self._let(index, None, partial(peer.actor.start, peak))

    def handle(self, index: int, event: Event) -> list[Effect]:
        """Give a peer an event and carry out its effects.

        Raises `UsageError` for a command that is not possible now.
        """
        return self._let(index, event, partial(self.peers[index].actor.handle, event))

    def deliver(self) -> bool:
        """Deliver the oldest message; False if none is on its way."""
        if not self.messages:
            return False
        index, message = self.messages.popleft()
        self.handle(index, Received(message))
        return True

    def finish_step(self) -> bool:
        """Wait for the oldest step of a deck that is being computed; False if there is none."""
        if not self.computing:
            return False
        index, wait = self.computing.popleft()
        self.handle(index, DeckComputed(wait()))
        return True

    def next_question(self) -> tuple[int, Proposed | YourTurn] | None:
        """Take the next question to a player: the initiator's first, and proposals before turns."""
        for index, peer in enumerate(self.peers):
            if peer.questions:
                question = min(peer.questions, key=lambda one: isinstance(one, YourTurn))
                peer.questions.remove(question)
                return index, question
        return None

    # --- connections ---

    def reconnect(self) -> None:
        """Break the connection and make it again.

        Messages on their way are lost, and their senders repeat what the other side may lack.
        Those of a sender that cannot repeat arrive after all.
        """
        resumable = [isinstance(peer.actor, Resumable) for peer in self.peers]
        arriving = [mail for mail in self.messages if not resumable[1 - mail[0]]]
        self.messages.clear()
        self.messages.extend(arriving)
        for index, peer in enumerate(self.peers):
            if isinstance(peer.actor, Resumable):
                self.carry_out(index, peer.actor.reconnected())

    def restart(self, index: int) -> None:
        """Start a peer again whose process ended: the connection broke with it."""
        peer = self.peers[index]
        peer.watched.clear()
        peer.questions.clear()
        self.carry_out(index, peer.actor.start(self.chain.peak()))
        self.reconnect()
        self.report_peak_to(index)

    # --- blocks ---

    def farm(self) -> None:
        """Make a block and report it to both peers."""
        peak = self.chain.peak()
        due = [(index, push) for height, index, push in self._held_back if height <= peak]
        self._held_back = [late for late in self._held_back if late[0] > peak]
        for index, push in due:
            self._offer(index, push)
        self.chain.farm()
        self._delivery.after_block()
        self.report_peak()

    def report_peak(self) -> None:
        """Report the tip of the chain, with all watched coins, to the peers it reaches."""
        self.notify(BlockMade(self.chain.peak()))
        for index in range(len(self.peers)):
            if self._delivery.reaches(index):
                self.report_peak_to(index)

    def report_peak_to(self, index: int) -> None:
        """Report the tip of the chain, with all watched coins, to one peer."""
        for block in blocks_for(self.chain, self.peers[index].watched):
            self.handle(index, self._delivery.view(index, block))

    # --- effects ---

    def carry_out(self, index: int, effects: Sequence[Effect]) -> None:
        """Carry out a peer's effects, in order."""
        peer = self.peers[index]
        for effect in effects:
            match effect:
                case Send(message):
                    self.notify(Sent(peer.name, message))
                    self.messages.append((1 - index, message))
                case Push():
                    delay = self._delivery.delay(index)
                    if delay:
                        self._held_back.append((self.chain.peak() + delay, index, effect))
                    else:
                        self._offer(index, effect)
                case Store(name, b""):
                    peer.records.pop(name, None)
                case Store(name, data):
                    peer.records[name] = data
                case Watch(coin):
                    peer.watched.append(coin)
                case ComputeDeck(work):
                    self.computing.append((index, self._compute_deck(index, work)))
                case Tell(news):
                    if isinstance(news, Proposed | YourTurn):
                        peer.questions.append(news)
                    self.notify(NewsFor(peer.name, news))
                case _:
                    assert_never(effect)

    def _let(
        self, index: int, event: Event | None, react: Callable[[], list[Effect]]
    ) -> list[Effect]:
        """Let a peer react to an event (None: its start); carry out and return its effects."""
        try:
            effects = react()
        except PeerStopped as stopped:
            effects = stopped.effects or []
            if stopped.effects is not None:
                self.notify(Handled(self.peers[index].name, event, tuple(effects)))
            self.carry_out(index, effects[: stopped.carried_out])
            self.restart(index)
            return effects
        self.notify(Handled(self.peers[index].name, event, tuple(effects)))
        self.carry_out(index, effects)
        return effects

    def _offer(self, index: int, push: Push) -> None:
        result = self._delivery.offer(push.bundle)
        if result is None:
            return
        self.notify(Pushed(self.peers[index].name, push.name, push.bundle, result))
        if result.answer is Answer.PENDING_CONFLICT:
            found = [self.chain.pending(spend.coin.id) for spend in push.bundle.spends]
            pending = tuple(bundle for bundles in found for bundle in bundles)
            self.handle(index, Pinned(push.bundle, pending))
