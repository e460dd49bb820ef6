"""The cost of one event for a process: signatures, runs of programs, and the items that it keeps.

Seconds differ from machine to machine; these numbers are those of a script on any machine.
"""

from __future__ import annotations

from asyncio import Task
from collections.abc import Collection, Iterator, Mapping, Sized
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from threading import get_ident
from typing import Any

from msgspec import Struct

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

MOST_LEFT, MOST_FINISHED = 48, 3
"""The most items of a part around a peer that its process leaves, but for what grows with live
games; and the most of them that are finished tasks, for which nobody waits any more."""

PRODUCT, SIMULATION = "channelsim.channel.", "channelsim.channel.attack."
"""The beginnings of the modules whose objects may be parts of a process, and of those that are of
its simulation."""

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


def left_over(*keepers: object) -> Iterator[str]:
    """Find parts that have too many items in what these objects keep when their process ends.

    Parts of their parts are looked at, too; a peer's state is none of them.
    """
    seen: dict[int, object] = {}
    waiting = [keeper for keeper in keepers if keeper is not None]
    while waiting:
        keeper = waiting.pop()
        if id(keeper) in seen:
            continue
        seen[id(keeper)] = keeper
        for name, part in _attributes(keeper):
            if _is_part(part):
                waiting.append(part)
            elif isinstance(part, Collection) and not isinstance(part, bytes | str):
                place = f"{type(keeper).__name__}.{name.lstrip('_')}"
                most = MOST_OF_GAMES if name in OF_GAMES else MOST_LEFT
                if len(part) > most:
                    yield f"leaves {len(part)} items in {place}"
                items = [*part, *part.values()] if isinstance(part, Mapping) else part
                done = sum(isinstance(item, Task | Future) and item.done() for item in items)
                if done > MOST_FINISHED:
                    yield f"leaves {done} finished tasks in {place}"


def _attributes(keeper: object) -> Iterator[tuple[str, object]]:
    slots = (getattr(kind, "__slots__", ()) for kind in type(keeper).__mro__)
    names = dict.fromkeys([*getattr(keeper, "__dict__", ()), *chain.from_iterable(slots)])
    return ((name, getattr(keeper, name)) for name in names if hasattr(keeper, name))


def _is_part(value: object) -> bool:
    """True for an object of the product that may change."""
    module = type(value).__module__
    is_product = module.startswith(PRODUCT) and not module.startswith(SIMULATION)
    return is_product and not isinstance(value, Struct | Enum)


_HAVE_ITEMS: dict[type, bool] = {}


def _has_items(kind: type) -> bool:
    known = issubclass(kind, Sized) and not issubclass(kind, bytes | str)
    _HAVE_ITEMS[kind] = known
    return known
