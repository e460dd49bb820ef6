"""Chinese Poker: thirteen cards in three rows, how they are compared, and its validators.

The rows are compared one by one, with royalties (CHIN-1 to CHIN-7). The validators commit to an
arrangement, show one, and score; the same rules as programs, with the same names, are
`clsp/source/poker/<validator>.clsp`. The player that has the button shows its rows first; the other
one has committed to its rows before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from channelsim.clsp.values import Value
from channelsim.games.contract import Hashes, Next, Slash, Valid, Validator, Verdict, by_name
from channelsim.games.poker.openings import OPENING, locks_open, pending_size
from channelsim.games.poker.ranking import (
    FULL_HOUSE,
    HIGH,
    QUADS,
    STRAIGHT_FLUSH,
    TRIPS,
)
from channelsim.games.poker.states import Commit, Held, Rows, Score
from channelsim.games.poker.validators import COMMITMENT_SIZE, held_cards, held_open, stake_left

# --- points -------------------------------------------------------------------------------------


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


def points(own: Arrangement, other: Arrangement) -> int:
    """The points that `own` wins from `other` (CHIN-3 to CHIN-5), from -14 to 14.

    >>> foul = Arrangement((0x320000, 0x1EDC90, 0x1EDC90))
    >>> points(foul, foul), points(foul, Arrangement((0xE3200, 0x1EDC90, 0x1EDC90)))
    (0, -4)
    """
    if own.foul or other.foul:
        if own.foul and other.foul:
            return 0
        winner, sign = (other, -1) if own.foul else (own, 1)
        return sign * (len(ROWS) + 1 + sum(map(_royalty, range(len(ROWS)), winner.keys)))
    won = lost = royalties = 0
    for row, (ours, theirs) in enumerate(zip(own.keys, other.keys, strict=True)):
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


# --- validators ---------------------------------------------------------------------------------


SALT_SIZE = 32


def commit(
    state: Commit, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover opens the waiter's cards, and commits to an arrangement of its own."""
    table, pending = state.table, state.pending
    size = pending_size(pending)
    if len(move) != size + COMMITMENT_SIZE:
        return Slash("PK-COMMIT-1")
    if share != stake_left(table, state.put):
        return Slash("PK-COMMIT-2")
    if not locks_open(table, pending, state.seats, move):
        return Slash("PK-COMMIT-3")
    held = tuple(
        (owed.position, move[at : at + 32])
        for owed, at in zip(pending, range(0, size, 32), strict=True)
    )
    seats = state.seats.swapped
    after = Rows(table, state.point, state.put, held, state.held, move[size:], seats)
    return Valid(Next("rows", after, (1 + OPENING) * len(held)))


def rows(
    state: Rows, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover arranges its cards in three rows, and shows them."""
    table, held, waiters = state.table, state.held, state.waiters
    count = len(held)
    if len(move) != (1 + OPENING) * count:
        return Slash("PK-ROWS-1")
    if share != stake_left(table, state.put):
        return Slash("PK-ROWS-2")
    if not held_open(table, held, state.seats, move[count:]):
        return Slash("PK-ROWS-3")
    cards = held_cards(table, held, move[count:])
    if cards is None:
        return Slash("PK-ROWS-4")
    shown = in_order(held, cards, move[:count])
    if shown is None:
        return Slash("PK-ROWS-5")
    seats = state.seats.swapped
    after = Score(table, state.point, state.put, waiters, shown, state.commitment, seats)
    return Valid(Next("score", after, (1 + OPENING) * len(waiters) + SALT_SIZE))


def score(
    state: Score, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover shows the arrangement that it committed to, and declares the waiter's share."""
    table, held = state.table, state.held
    size = OPENING * len(held)
    if len(move) != size + len(held) + SALT_SIZE:
        return Slash("PK-SCORE-1")
    order, salt = move[size : size + len(held)], move[size + len(held) :]
    if commitment(order, salt) != state.commitment:
        return Slash("PK-SCORE-2")
    if not held_open(table, held, state.seats, move):
        return Slash("PK-SCORE-3")
    own = held_cards(table, held, move)
    if own is None:
        return Slash("PK-SCORE-4")
    cards = in_order(held, own, order)
    if cards is None:
        return Slash("PK-SCORE-5")
    if share < table.unit * due_points(state, cards):
        return Slash("PK-SCORE-6")
    return Valid(None)


def due_points(state: Score, cards: Sequence[int]) -> int:
    """The chips that the waiter is due if the mover arranged its cards like this."""
    won = points(arranged(state.shown), arranged(cards))
    return state.table.stake + payment(won, state.point, state.table.stake)


def commitment(order: bytes, salt: bytes) -> bytes:
    """The commitment to thirteen positions in order, top row first, with 32 secret bytes."""
    return sha256(b"arrange" + order + salt).digest()


def in_order(held: Held, cards: Sequence[int], order: bytes) -> tuple[int, ...] | None:
    """The cards in the order of their positions; None if that is not each position once."""
    by_position = {position: card for (position, _), card in zip(held, cards, strict=True)}
    if sorted(order) != sorted(by_position):
        return None
    return tuple(by_position[position] for position in order)


VALIDATORS = by_name(
    Validator("commit", commit, Commit.form),
    Validator("rows", rows, Rows.form),
    Validator("score", score, Score.form),
)
"""By name, in the order of play."""
