"""Time the preparation of a deck against its floor, the multiplications that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

from channelsim.channel.bench.measuring import seconds_of, spread
from channelsim.channel.errors import InvariantError
from channelsim.games.chance import Chance
from channelsim.games.deck.group import Group, real_group
from channelsim.games.deck.terms import LEAST_ROUNDS, DeckTerms
from channelsim.games.deck.work import DeckResult, DeckWork, compute

POSITIONS = 26
ROUNDS = LEAST_ROUNDS
"""The positions and proof rounds of a channel's decks by default."""

BARE = 1000
"""Multiplications of a bare loop."""


@dataclass
class CountingGroup:
    """A group that counts the multiplications."""

    group: Group = field(default_factory=real_group)
    count: int = 0

    def __post_init__(self) -> None:
        self.order, self.point_size = self.group.order, self.group.point_size
        self.base = self.group.base
        self.is_point, self.map = self.group.is_point, self.group.map
        self.subtract = self.group.subtract

    def multiply(self, products: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Multiply, and count."""
        self.count += len(products)
        return self.group.multiply(products)


def measure_deck(seed: str, seconds: float, least: int) -> dict[str, Any]:
    """Compare the time of both sides' steps with that of their multiplications alone."""
    ratios: list[float] = []
    times: list[float] = []
    counted = 0
    until = perf_counter() + seconds
    while perf_counter() < until or len(ratios) < least:
        group = CountingGroup()
        before = _bare_multiplication()
        elapsed = seconds_of(partial(_prepare, group, f"{seed} {len(ratios)}"))
        one = (before + _bare_multiplication()) / 2
        counted = group.count
        ratios.append(elapsed / (counted * one))
        times.append(elapsed)
    return {
        "ratio": spread(ratios),
        "seconds": spread(times),
        "multiplications": counted,
    }


def _prepare(group: Group, seed: str) -> None:
    """Prepare a deck: all steps of both sides, one after the other."""
    terms = DeckTerms(bytes(32), 1, POSITIONS, ROUNDS)
    random = Chance(seed.encode()).bytes
    sides: list[DeckResult | None] = [None, None]
    message = b""
    for step in range(6):
        before = sides[step % 2]
        result = compute(
            DeckWork(group, terms, step, message, before.after if before else None), random
        )
        sides[step % 2], message = result, result.answer
    if not all(side and side.after and side.after.finished for side in sides):
        raise InvariantError(f"a preparation failed: {sides}")


def _bare_multiplication() -> float:
    """The seconds of one multiplication in a bare loop, many in one call.

    The point is not the base, for which the group has a table: nearly all points of a preparation
    are others.
    """
    group = real_group()
    point = group.map(b"a point")
    products = [(group.order - 1 - at, point) for at in range(BARE)]
    return seconds_of(lambda: group.multiply(products)) / BARE
