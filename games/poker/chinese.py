"""Chinese Poker: thirteen cards in three rows, compared row by row, with royalties.

Rules: CHIN-1 to CHIN-7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channelsim.games.poker.ranking import (
    FULL_HOUSE,
    HIGH,
    QUADS,
    STRAIGHT_FLUSH,
    TRIPS,
)

ROWS = (3, 5, 5)
"""The cards of the top, middle and bottom row."""

MOST_POINTS = 14
"""3 rows, 1 for most of them, and royalties of 4, 4 and 2."""

_ROYALTIES: tuple[dict[int, int], ...] = (
    {TRIPS: 2},
    {FULL_HOUSE: 1, QUADS: 3, STRAIGHT_FLUSH: 4},
    {QUADS: 3, STRAIGHT_FLUSH: 4},
)
"""Points by the class of a row that wins, for each row."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The keys of the three rows of thirteen cards."""

    keys: tuple[int, int, int]

    @property
    def foul(self) -> bool:
        """True if a row is stronger than the one below it; equal rows are legal (CHIN-2)."""
        top, middle, bottom = self.keys
        return top > middle or middle > bottom


def arranged(cards: Sequence[int]) -> Arrangement:
    """Arrange thirteen cards as they come: three for the top, five, and five for the bottom."""
    return Arrangement((HIGH.key(cards[:3]), HIGH.key(cards[3:8]), HIGH.key(cards[8:13])))


def points(one: Arrangement, other: Arrangement) -> int:
    """The points that `one` wins from `other` (CHIN-3 to CHIN-5), from -14 to 14.

    >>> foul = Arrangement((0x320000, 0x1EDC90, 0x1EDC90))
    >>> points(foul, foul), points(foul, Arrangement((0xE3200, 0x1EDC90, 0x1EDC90)))
    (0, -4)
    """
    if one.foul or other.foul:
        if one.foul and other.foul:
            return 0
        winner, sign = (other, -1) if one.foul else (one, 1)
        return sign * (len(ROWS) + 1 + sum(map(_royalty, range(len(ROWS)), winner.keys)))
    won = lost = royalties = 0
    for row, (ours, theirs) in enumerate(zip(one.keys, other.keys, strict=True)):
        if ours > theirs:
            won += 1
            royalties += _royalty(row, ours)
        elif theirs > ours:
            lost += 1
            royalties -= _royalty(row, theirs)
    return won - lost + (won >= 2) - (lost >= 2) + royalties


def _royalty(row: int, key: int) -> int:
    return _ROYALTIES[row].get(key >> 20, 0)


def payment(won: int, point: int, stake: int) -> int:
    """The chips that change hands for these points (CHIN-6).

    >>> payment(-3, 10, 100), payment(14, 10, 100)
    (-30, 100)
    """
    size = min(abs(won) * point, stake)
    return size if won > 0 else -size
