"""Rankings of hands as numbers that a validator compares: the class, then ranks, four bits each.

The ranks are sorted by how often they occur, then by rank; a straight keeps its top rank only.
`class * 16**5 + r1 * 16**4 + r2 * 16**3 + ...`, so that a pair of fives with A, K and Q is
0x15EDC0. Rules: EVAL-1 to EVAL-9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

NONE, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
"""The classes of hands."""

_CLASSES = {
    (2, 1, 1, 1): PAIR,
    (2, 1, 1): PAIR,
    (2, 1): PAIR,
    (2,): PAIR,
    (2, 2, 1): TWO_PAIR,
    (2, 2): TWO_PAIR,
    (3, 1, 1): TRIPS,
    (3, 1): TRIPS,
    (3,): TRIPS,
    (3, 2): FULL_HOUSE,
    (4, 1): QUADS,
    (4,): QUADS,
}
"""Classes by the numbers of cards of one rank; all others have none."""

ACE = 14
WHEEL = [ACE, 5, 4, 3, 2]

CODES = tuple(1 << 3 * (card >> 2) | 1 << 39 + 3 * (card & 3) for card in range(52))
"""A code of each card: the sum of up to five counts the cards of each rank, from the twos up, and
then those of each suit, in three bits each."""

_RANKS = (1 << 39) - 1
"""The bits of a code that count ranks."""

_FIVE_OF_A_SUIT = frozenset(5 << 3 * suit for suit in range(4))


# By identity, so that memories of keys find an order at once.
@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """An order of hands of five cards.

    `ace_low`: the ace is 1 and never 14. `runs`: straights and flushes count. `wheel`: the ace may
    also begin a straight. `low`: the smaller key wins.
    """

    name: str
    ace_low: bool = False
    runs: bool = True
    wheel: bool = False
    low: bool = False

    def key(self, cards: Sequence[int]) -> int:
        """The key of five cards; of fewer, straights and flushes do not count.

        >>> hex(HIGH.key([48, 44, 40, 36, 32])), hex(HIGH.key([48, 1, 5, 9, 13]))
        ('0x8e0000', '0x450000')
        """
        return self.key_of_code(sum([CODES[card] for card in cards]))

    def key_of_code(self, code: int) -> int:
        """The key of cards whose codes have this sum: a player compares up to sixty selections."""
        return _key(self, code & _RANKS, code >> 39 in _FIVE_OF_A_SUIT)

    def better(self, key: int, other: int) -> int:
        """Compare two keys: 1 if the first one wins, -1 if the other does, 0 for a tie."""
        order = (key > other) - (key < other)
        return -order if self.low else order

    def best(self, selections: Iterable[Sequence[int]]) -> tuple[int, Sequence[int]]:
        """The best of several selections of five cards, with its key; the first one of equals."""
        keyed = ((self.key(cards), cards) for cards in selections)
        if self.low:
            return min(keyed, key=lambda pair: pair[0])
        return max(keyed, key=lambda pair: pair[0])


HIGH = Ranking("high", wheel=True)
ACE_TO_FIVE = Ranking("ace to five", ace_low=True, runs=False, low=True)
ACE_TO_SIX = Ranking("ace to six", ace_low=True, low=True)
DEUCE_TO_SEVEN = Ranking("deuce to seven", low=True)

RANKINGS = (HIGH, DEUCE_TO_SEVEN, ACE_TO_SIX, ACE_TO_FIVE)
"""By their numbers in a state."""

EIGHT_LOW = 0x090000
"""The keys of qualifying lows in the order ace to five are less: five ranks of at most eight."""


@lru_cache(maxsize=1 << 16)
def _key(order: Ranking, counts: int, flush: bool) -> int:
    """The key of cards with these counts of ranks; `flush`: five of one suit.

    There are fewer than 8,000 for each order.
    """
    counted = sorted(
        (
            (number, 1 if order.ace_low and kind + 2 == ACE else kind + 2)
            for kind in range(13)
            if (number := counts >> 3 * kind & 7)
        ),
        reverse=True,
    )
    ranks = sorted((rank for number, rank in counted for _ in range(number)), reverse=True)
    if order.runs and len(ranks) == 5:
        top = _straight(order, ranks)
        if top:
            return (STRAIGHT_FLUSH if flush else STRAIGHT) << 20 | top << 16
        if flush:
            return _packed(FLUSH, ranks)
    shape = tuple(number for number, _ in counted)
    return _packed(_CLASSES.get(shape, NONE), [rank for _, rank in counted])


def _straight(order: Ranking, ranks: list[int]) -> int:
    """The top rank of a straight; 0 for none."""
    if order.wheel and ranks == WHEEL:
        return 5
    return ranks[0] if ranks == list(range(ranks[0], ranks[0] - 5, -1)) else 0


def _packed(kind: int, ranks: Sequence[int]) -> int:
    key = kind
    for rank in (*ranks, 0, 0, 0, 0)[:5]:
        key = key << 4 | rank
    return key
