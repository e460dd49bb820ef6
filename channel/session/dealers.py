"""Decks for the coming hands: prepared ahead by both peers, or made by a simulated dealer.

The same seed gives the same messages in the same order, however fast the machine is. What is
prepared while a player thinks counts as done before its answer, and the session waits for it then.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.interface import DecksChanged, PrepareDeck
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.deck_records import encode_deck
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import Driver
from channelsim.games.chance import Chance
from channelsim.games.deck.finished import simulated_decks
from channelsim.games.deck.secrets import draw_secrets

T = TypeVar("T")

IN_PREPARATION = 2
"""The most decks that are begun and not finished."""

STEPS = 4
"""Steps that are computed while a player thinks: with two decks, about a second on two cores."""


class Dealer(Protocol):
    """Sees to it that both peers have a deck when a hand needs one."""

    def provide(self) -> None:
        """Return once a deck is ready on both sides."""
        ...

    def meanwhile(self, decide: Callable[[], T]) -> T:
        """Decide for a player, and prepare decks in the meantime."""
        ...


class DecksAhead:
    """Both peers prepare decks by messages; `upcoming` says how many the coming hands need."""

    def __init__(
        self, driver: Driver, peers: tuple[Peer, Peer], upcoming: Callable[[], int]
    ) -> None:
        self._driver = driver
        self._peers = peers
        self._upcoming = upcoming

    def provide(self) -> None:
        """Prepare a deck, if none is ready yet."""
        while not ready_on_both(self._peers):
            if self._driver.deliver() or self._driver.finish_step():
                continue
            if self._peers[Side.RECEIVER].play.decks.is_full:
                self._driver.farm()  # one side has lost its decks, and the other waits
            else:
                self._driver.handle(Side.RECEIVER, PrepareDeck())

    def meanwhile(self, decide: Callable[[], T]) -> T:
        """Decide for a player; compute some steps at the same time."""
        self._begin()
        if not self._driver.computing:
            return decide()
        with ThreadPoolExecutor(1, "decks ahead") as thread:
            work = thread.submit(self._prepare)
            decided = decide()
            work.result()
        return decided

    def _begin(self) -> None:
        """Begin as many decks as may be in preparation, and as the coming hands need."""
        if any(peer.phase is not Phase.PLAYING for peer in self._peers):
            return
        while True:
            pool = self._peers[Side.RECEIVER].play.decks
            begun = len(pool.decks) - len(pool.ready)
            enough = len(pool.decks) >= self._upcoming()
            if begun >= IN_PREPARATION or enough or pool.is_full:
                return
            self._driver.handle(Side.RECEIVER, PrepareDeck())

    def _prepare(self) -> None:
        # No other messages are on their way while a player is asked.
        for _ in range(STEPS):
            while self._driver.deliver():
                pass
            self._driver.finish_step()
        while self._driver.deliver():
            pass


class SimulatedDealer:
    """Makes a deck for both peers at once, from a seed: tens of milliseconds, and no messages.

    Whoever deals like this knows every card, so it is for simulations only, which say so.
    """

    def __init__(self, driver: Driver, peers: tuple[Peer, Peer], seed: bytes) -> None:
        self._driver = driver
        self._peers = peers
        self._seed = seed

    def provide(self) -> None:
        """Make a deck, if none is ready."""
        if not ready_on_both(self._peers):
            self.deal()

    def meanwhile(self, decide: Callable[[], T]) -> T:
        """Decide for a player; there is nothing to prepare."""
        return decide()

    def deal(self) -> None:
        """Put one more deck into both pools."""
        for side, decks in zip(Side, dealt(self._peers, self._seed), strict=True):
            self._driver.handle(side, decks)


def dealt(peers: tuple[Peer, Peer], seed: bytes) -> tuple[DecksChanged, DecksChanged]:
    """Make one more deck for both peers, which are playing, from a seed."""
    pools = [peer.play.decks for peer in peers]
    number = max(pool.highest for pool in pools) + 1
    terms = pools[0].settings.terms(pools[0].channel_id, number)
    group = pools[0].settings.group
    chances = [Chance(derive(seed, "dealer", side, terms.number)) for side in Side]
    secrets = [draw_secrets(group, terms, chance.bytes) for chance in chances]
    first, second = simulated_decks(group, terms, *secrets)
    return (
        DecksChanged(number, (encode_deck(first, named=False),)),
        DecksChanged(number, (encode_deck(second, named=False),)),
    )


def ready_on_both(peers: tuple[Peer, Peer]) -> bool:
    """True if both peers have a deck that no proposal has named."""
    first, second = (peer.play.decks.ready for peer in peers)
    return bool(first.keys() & second.keys())
