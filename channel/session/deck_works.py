"""Computing the steps of decks outside the peers: on demand, or ahead in threads.

Where the secrets come from is decided here too: the system's generator, or a seed in simulations.
They are never derived from a key (PD-16).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeAlias

from channelsim.channel.crypto.hkdf import derive, system_random
from channelsim.channel.session.threads import SYSTEM_THREADS, Threads
from channelsim.games.chance import Chance
from channelsim.games.deck.secrets import Random
from channelsim.games.deck.work import DeckResult, DeckWork, compute

SecretsOf: TypeAlias = Callable[[int, int], Random]
"""The generator for the secrets of a side in the deck of a number."""

Computing: TypeAlias = Callable[[int, DeckWork], Callable[[], DeckResult]]
"""Takes a side's work on a deck, and returns a function that waits for its result."""

INTERVAL = 2.0
"""Seconds from one new deck of a side to the next one (PD-17)."""


def system_secrets(side: int, number: int) -> Random:
    """The secrets of every deck from the system's generator."""
    return system_random


def seeded_secrets(seed: bytes) -> SecretsOf:
    """The secrets of every deck from a seed, for simulations."""
    return lambda side, number: Chance(derive(seed, "deck", side, number)).bytes


def on_demand(secrets_of: SecretsOf = system_secrets) -> Computing:
    """Compute each step when its result is waited for."""
    return lambda side, work: partial(compute, work, secrets_of(side, work.terms.number))


class Pace:
    """Holds new decks of one side back, so that each begins 2 seconds after the one before."""

    def __init__(self) -> None:
        self._next = 0.0

    def delay(self, now: float) -> float:
        """The seconds from `now` until a new deck may begin, which is then counted as begun.

        >>> pace = Pace()
        >>> [pace.delay(now) for now in (100.0, 100.5, 101.0, 110.0)]
        [0.0, 1.5, 3.0, 0.0]
        """
        start = max(now, self._next)
        self._next = start + INTERVAL
        return start - now


class DeckThreads:
    """Computes steps in threads, which hold the interpreter's lock for a part of their time only.

    A side works at no more decks at a time than its peer allows.
    """

    def __init__(
        self, secrets_of: SecretsOf = system_secrets, threads: Threads = SYSTEM_THREADS
    ) -> None:
        self._on_demand = on_demand(secrets_of)
        self._paces = (Pace(), Pace())
        self._threads = threads
        self._steps: set[Future[DeckResult]] = set()

    def __call__(self, side: int, work: DeckWork) -> Callable[[], DeckResult]:
        """Begin a step."""
        return self.submit(side, work).result

    def submit(self, side: int, work: DeckWork) -> Future[DeckResult]:
        """Begin a step, and return its future."""
        delay = self._paces[side].delay(self._threads.time()) if work.is_new else 0.0
        step = self._threads.begin(self._on_demand(side, work), delay)
        self._steps.add(step)
        step.add_done_callback(self._steps.discard)
        return step

    def close(self) -> None:
        """Drop the steps that have not begun."""
        for step in tuple(self._steps):
            step.cancel()
