"""Exact counts of Omaha's hands, high and low, over all boards and own cards (CNT-6, CNT-7).

463,563,500,400 pairs of a board and own cards are too many to go through one by one. Ranks decide
everything but flushes, so own cards and boards are taken by their ranks, with the number of pairs
of each kind; the straight flushes are counted by suit as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod
from operator import itemgetter
from typing import TypeAlias

import pytest

from channelsim.games.poker.ranking import (
    ACE_TO_FIVE,
    EIGHT_LOW,
    FLUSH,
    FULL_HOUSE,
    HIGH,
    STRAIGHT_FLUSH,
)
from tests.games.poker.test_seven_cards import key

RANKS = range(13)
Ranks: TypeAlias = tuple[int, ...]
"""Ranks of cards, ascending, 0 for a two; or how many cards there are of each rank."""

ROYAL, WHEEL, WORST = 0x8E0000, 0x054321, 0x087654
NO_LOW = 1 << 24


@dataclass(frozen=True)
class Weight:
    """Pairs of a board and own cards of the same ranks, by what their suits allow.

    `plain` have no flush, `flush` have at least one.
    """

    plain: int
    flush: int


@cache
def weight(board: Ranks, on_board: Ranks, own: Ranks) -> Weight:
    """The pairs of these numbers of cards: of each rank of the board, there and in the own hand,
    and of all ranks in the own hand, in any order."""
    plain = flush = 0
    elsewhere = tuple((Counter(own) - Counter(on_board)).elements())
    for suits in product(*(tuple(combinations(range(4), count)) for count in board)):
        used = Counter(suit for some in suits for suit in some)
        suit, most = used.most_common(1)[0]
        free = [4 - count for count in board] + [4] * len(elsewhere)
        taken = (*on_board, *elsewhere)
        every = prod(comb(one, count) for one, count in zip(free, taken, strict=True))
        if most < 3:
            plain += every
            continue
        suited = [int(suit not in some) for some in suits] + [1] * len(elsewhere)
        none, one_suited = 1, 0
        for left, in_suit, count in zip(free, suited, taken, strict=True):
            without = comb(left - in_suit, count)
            with_it = in_suit * comb(left - in_suit, count - 1) if count else 0
            none, one_suited = none * without, one_suited * without + none * with_it
        plain += none + one_suited
        flush += every - none - one_suited
    return Weight(plain, flush)


@cache
def own_hands() -> tuple[tuple[Ranks, Ranks, Ranks, tuple[int, ...]], ...]:
    """The ranks of all own hands: ascending, counted, counted without zeros in order, and as
    indices of their pairs."""
    found = []
    for ranks in combinations_with_replacement(RANKS, 4):
        counts = tuple(ranks.count(rank) for rank in RANKS)
        pairs = {PAIRS[two] for two in combinations(ranks, 2)}
        found.append((ranks, counts, tuple(sorted(filter(None, counts))), tuple(pairs)))
    return tuple(found)


PAIRS = {pair: at for at, pair in enumerate(combinations_with_replacement(RANKS, 2))}
"""Each two ranks that two own cards can have, with its index."""


def boards() -> Iterator[Ranks]:
    for ranks in combinations_with_replacement(RANKS, 5):
        if ranks[0] != ranks[4]:
            yield ranks


@cache
def straight_flushes(suited: Ranks) -> dict[Ranks, int]:
    """The best straight flush of each two own cards with three of these of one suit."""
    found: dict[Ranks, int] = {}
    for two in combinations([rank for rank in RANKS if rank not in suited], 2):
        fives = (tuple(sorted((*two, *three))) for three in combinations(suited, 3))
        best = max(key(HIGH, five, True) for five in fives)
        if best >> 20 == STRAIGHT_FLUSH:
            found[two] = best
    return found


@dataclass
class Counts:
    """All pairs, by the class of the best hand, with royal flushes apart, and by the best low."""

    classes: Counter[int] = field(default_factory=Counter)
    royal: int = 0
    lows: Counter[int] = field(default_factory=Counter)

    def add(self, board: Ranks) -> None:
        """Count all own hands with the boards of these ranks."""
        triples = {*combinations(board, 3)}
        highs, lows = [], []
        for two in PAIRS:
            # Five cards of one rank are none.
            fives = [tuple(sorted((*two, *three))) for three in triples]
            real = [five for five in fives if five[0] != five[4]]
            highs.append(max((key(HIGH, five, False) for five in real), default=0))
            lows.append(min((key(ACE_TO_FIVE, five, False) for five in real), default=NO_LOW))
        ranks = sorted({*board}, key=lambda rank: -board.count(rank))
        of_board, shape = itemgetter(*ranks), tuple(board.count(rank) for rank in ranks)
        classes: dict[Ranks, int] = {}
        for own, counts, sizes, pairs in own_hands():
            pairs_of = weight(shape, of_board(counts), sizes)
            kind = max(map(highs.__getitem__, pairs)) >> 20
            classes[own] = kind
            self.classes[kind] += pairs_of.plain
            self.classes[max(kind, FLUSH)] += pairs_of.flush
            low = min(map(lows.__getitem__, pairs))
            if low < EIGHT_LOW:
                self.lows[low] += pairs_of.plain + pairs_of.flush
        for size in range(3, len(ranks) + 1):
            for suited in combinations(sorted(ranks), size):
                if straight_flushes(suited):
                    self._move(board, suited, classes)

    def _move(self, board: Ranks, suited: Ranks, classes: dict[Ranks, int]) -> None:
        """Move the straight flushes with these ranks of one suit on the board to their class."""
        twos = straight_flushes(suited)
        here = {rank: board.count(rank) - (rank in suited) for rank in RANKS}
        ways = 4 * prod(comb(3, here[rank]) for rank in {*board})
        free = [rank for rank in RANKS if rank not in suited]
        for size in (2, 3, 4):
            for own in combinations(free, size):
                made = [twos[two] for two in combinations(own, 2) if two in twos]
                if not made:
                    continue
                for rest in combinations_with_replacement(RANKS, 4 - size):
                    count = ways * prod(comb(3 - here[rank], rest.count(rank)) for rank in {*rest})
                    kind = classes[tuple(sorted((*own, *rest)))]
                    self.classes[max(kind, FLUSH)] -= count
                    self.classes[STRAIGHT_FLUSH] += count
                    self.royal += count * (max(made) == ROYAL)


@pytest.mark.long
def test_omaha_hands_are_counted() -> None:
    found = Counts()
    for board in boards():
        found.add(board)
    assert found.classes.total() == comb(52, 4) * comb(48, 5) == 463_563_500_400
    assert [found.classes[kind] for kind in range(FULL_HOUSE + 2)] == [
        *(13851662832, 122655542152, 170775844104, 40712657408),
        *(52289648688, 31216782384, 29424798576, 2225270496),
    ]
    assert found.royal == 4 * comb(5, 2) * comb(47, 2) * comb(45, 2) == 42_807_600
    assert found.classes[STRAIGHT_FLUSH] - found.royal == 368_486_160
    assert found.lows.total() == 161_374_983_168
    assert (found.lows[WHEEL], found.lows[WORST]) == (7_439_717_760, 1_846_020_480)
    assert len(found.lows) == 56
