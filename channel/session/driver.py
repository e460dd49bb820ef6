"""The driver of two peers on one node: messages between them, blocks, and connections that break.

What the players decide comes from outside, as commands. Listeners hear of everything that it does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import FarmableChain, PushResult, blocks_for, pending_with
from channelsim.channel.peer.interface import (
    Connected,
    DeckComputed,
    Effect,
    Event,
    Proposed,
    Push,
    Received,
    YourTurn,
)
from channelsim.channel.session.deck_works import Computing, on_demand
from channelsim.channel.session.peer_driver import DrivenPeer, PeerDriver
from channelsim.channel.session.session_events import BlockMade, Listener, SessionEvent
from channelsim.games.deck.work import DeckResult, DeckWork


class Delivery:
    """Delivery of spends to the node, and of messages between the peers.

    This one delivers at once and in full; `push` stands in for the node's. Peers have an index.
    """

    def __init__(
        self, chain: FarmableChain, push: Callable[[Bundle], PushResult] | None = None
    ) -> None:
        self.push = push or chain.push

    def delay(self, index: int) -> int:
        """The number of blocks to hold back a spend that this peer pushes now."""
        return 0

    def offer(self, index: int, bundle: Bundle) -> PushResult | None:
        """Offer a bundle of this peer to the node; None if it was not offered."""
        return self.push(bundle)

    def breaks(self) -> bool:
        """True if the connection between the peers breaks before the next message arrives."""
        return False


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
        self._unbegun: list[PeerDriver] = []
        self._delivery = delivery or Delivery(chain)
        self._held_back: list[tuple[int, int, Push]] = []
        first, second = (PeerDriver(peer, _Ports(self, i)) for i, peer in enumerate(peers))
        self._drivers = (first, second)

    def notify(self, event: SessionEvent) -> None:
        """Pass an event to every listener."""
        for listener in self._listeners:
            listener(event)

    # --- events ---

    def start(self) -> None:
        """Begin both peers, the initiator first."""
        peak = self.chain.peak()
        self._unbegun = list(self._drivers)
        for driver in self._drivers:
            self._unbegun.remove(driver)
            driver.start(peak)

    def handle(self, index: int, event: Event) -> list[Effect]:
        """Give a peer an event and carry out its effects.

        Raises `UsageError` for a command that is not possible now.
        """
        return self._drivers[index].handle(event)

    def deliver(self) -> bool:
        """Deliver the oldest message, or lose the connection; False if none is on its way."""
        if not self.messages:
            return False
        if self._delivery.breaks():
            self.reconnect()
            return True
        index, message = self.messages.popleft()
        self._drivers[index].handle(Received(message))
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
            question = peer.next_question()
            if question is not None:
                return index, question
        return None

    # --- connections ---

    def reconnect(self) -> None:
        """Break the connection and make it again; messages on their way are lost."""
        self.messages.clear()
        for driver in self._drivers:
            if driver not in self._unbegun:
                driver.handle(Connected())

    def restart(self, index: int) -> None:
        """Start a peer again whose process ended: the connection broke with it."""
        peer = self.peers[index]
        peer.watched.clear()
        peer.questions.clear()
        self._drivers[index].forget_fee_rate()
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
        self.report_peak()

    def report_peak(self) -> None:
        """Report the tip of the chain, with all watched coins, to both peers."""
        self.notify(BlockMade(self.chain.peak()))
        for index in range(len(self.peers)):
            self.report_peak_to(index)

    def report_peak_to(self, index: int) -> None:
        """Report the tip of the chain, with all watched coins, to one peer."""
        if self.peers[index].pays_fees:
            self._drivers[index].report_fee_rate(self.chain.fee_rate())
        for block in blocks_for(self.chain, self.peers[index].watched):
            self.handle(index, block)

    # --- effects ---

    def carry_out(self, index: int, effects: Sequence[Effect]) -> None:
        """Carry out a peer's effects, in order."""
        self._drivers[index].carry_out(effects)

    def send(self, index: int, message: bytes) -> None:
        """Put a peer's message on its way to the other."""
        self.messages.append((1 - index, message))

    def push(self, index: int, push: Push) -> None:
        """Offer a peer's bundle to the node, or hold it back."""
        delay = self._delivery.delay(index)
        if delay:
            self._held_back.append((self.chain.peak() + delay, index, push))
        else:
            self._offer(index, push)

    def compute(self, index: int, work: DeckWork) -> None:
        """Begin a step of a peer's deck."""
        self.computing.append((index, self._compute_deck(index, work)))

    def _offer(self, index: int, push: Push) -> None:
        result = self._delivery.offer(index, push.bundle)
        if result is not None:
            pending = pending_with(self.chain, push.bundle, result)
            self._drivers[index].pushed(push, result, pending)


class _Ports:
    """The ports of one of the two peers."""

    def __init__(self, driver: Driver, index: int) -> None:
        self.send = partial(driver.send, index)
        self.push = partial(driver.push, index)
        self.compute = partial(driver.compute, index)
        self.restart = partial(driver.restart, index)
        self.notify = driver.notify
