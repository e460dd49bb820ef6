"""The cost of one event for a process: signatures, runs of programs, and the items that it keeps.

Seconds differ from machine to machine; these numbers are those of a script on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from channelsim.channel.crypto import bls
from channelsim.clsp import run
from channelsim.games.amounts import counted

MOST_SIGNATURES, MOST_RUNS = 20, 60
"""The most signatures, made or verified, and runs of programs for one event."""

GAMES = 5
"""The live games beside which this is the most of signatures: with more, in proportion."""

RUNS_OF_GAME = 50
"""The runs for a game that a batch moves, and its answer, too: most are for a deal of cards."""

MOST_ITEMS = 64
"""The most items of anything that a process keeps, but for the states of its channel."""

MOST_OF_GAMES = 2 * MOST_ITEMS
"""The same for what grows with live games: coins that are watched or tracked, and known facts."""

OF_GAMES = ("watched", "_watched", "_looked_at", "tracked", "reported")
"""Parts that have these items."""

UNBOUNDED = ("history",)
"""Parts that grow with the states of a channel, or whose bound is the text's."""


@dataclass(slots=True)
class Workload:
    """Counts what an event costs, in the thread that handles it."""

    signatures: int = 0
    runs: int = 0
    _thread: int = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what is done in this block."""
        self.signatures, self.runs, self._thread = 0, 0, get_ident()
        with bls.observed(self._sign), run.observed(self._run):
            yield

    def _sign(self, *operation: object) -> None:
        self.signatures += get_ident() == self._thread

    def _run(self, *program: object) -> None:
        self.runs += get_ident() == self._thread

    def excess(self, games: int) -> Iterator[str]:
        """Find what was too much beside so many live games."""
        most = MOST_SIGNATURES * max(games, GAMES) / GAMES
        if self.signatures > most:
            yield f"does {counted(self.signatures, 'signature')} after one event"
        if self.runs > max(MOST_RUNS, RUNS_OF_GAME * games):
            yield f"does {counted(self.runs, 'run')} after one event"


def large(*keepers: object) -> Iterator[str]:
    """Find parts of these objects, by their attributes, that have too many items."""
    for keeper in keepers:
        for name in getattr(keeper, "__struct_fields__", None) or vars(keeper):
            value: Any = getattr(keeper, name)
            has_items = _HAVE_ITEMS.get(type(value))
            if has_items is None:
                has_items = _has_items(type(value))
            most = MOST_OF_GAMES if name in OF_GAMES else MOST_ITEMS
            if has_items and len(value) > most and name not in UNBOUNDED:
                yield f"keeps {len(value)} items in {type(keeper).__name__}.{name.lstrip('_')}"


_HAVE_ITEMS: dict[type, bool] = {}


def _has_items(kind: type) -> bool:
    known = issubclass(kind, Sized) and not issubclass(kind, bytes | str)
    _HAVE_ITEMS[kind] = known
    return known
