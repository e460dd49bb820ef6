"""Exact counts: hands by their top card, pairs of boards, and all sequences of bets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, pairwise
from math import comb

import pytest

from channelsim.clsp.values import int_to_atom
from channelsim.games.contract import Valid
from channelsim.games.poker.checks import open_value
from channelsim.games.poker.limits import First, Structure, acts_first, board_value
from channelsim.games.poker.ranking import ACE_TO_FIVE, ACE_TO_SIX, DEUCE_TO_SEVEN, HIGH, Ranking
from channelsim.games.poker.states import Begin, Mid
from channelsim.games.poker.terms import Stakes
from channelsim.games.poker.validators import CALL, RAISE
from tests.games.poker.hands import ROWS, Hand, State
from tests.games.poker.test_ranking import kinds

NO, POT, FIXED = Structure.NO_LIMIT, Structure.POT_LIMIT, Structure.FIXED_LIMIT

TOPS = {
    ACE_TO_FIVE: [1024, 5120, 15360, 35840, 71680, 129024, 215040, 337920, 506880],
    DEUCE_TO_SEVEN: [0, 0, 4080, 14280, 34680, 70380, 127500, 213180, 335580, 503880],
    ACE_TO_SIX: [0, 4080, 14280, 34680, 70380, 127500, 213180, 335580, 503880],
}
"""Hands of five cards without a pair, by their top rank from 5 on."""


@pytest.mark.parametrize("ranking", TOPS, ids=lambda one: one.name)
def test_hands_without_a_pair_are_counted_by_their_top_card(ranking: Ranking) -> None:
    found: Counter[int] = Counter()
    for cards, hands in kinds():
        key = ranking.key(cards)
        if key >> 20 == 0:
            found[key >> 16] += hands
    counts = TOPS[ranking]
    assert [found[top] for top in range(5, 5 + len(counts))] == counts


def test_jacks_or_better_are_counted() -> None:
    better = sum(hands for cards, hands in kinds() if HIGH.key(cards) >= 0x1B0000)
    assert better == 536_100


def boards(size: int) -> Iterator[tuple[tuple[int, ...], Counter[int]]]:
    """One board of each kind, with how many cards of each rank it has."""
    for ranks in combinations_with_replacement(range(13), size):
        counts = Counter(ranks)
        if max(counts.values()) <= 4:
            cards = (4 * rank + ranks[:at].count(rank) for at, rank in enumerate(ranks))
            yield tuple(cards), counts


def ways(one: Counter[int], other: Counter[int]) -> int:
    """In how many ways two players have boards of these kinds."""
    product = 1
    for rank in one | other:
        product *= comb(4, one[rank]) * comb(4 - one[rank], other[rank])
    return product


@pytest.mark.parametrize("ranking", [HIGH, ACE_TO_FIVE], ids=lambda one: one.name)
@pytest.mark.parametrize(("size", "tied"), [(1, 156), (2, 11_310), (3, 505_440), (4, 15_570_360)])
def test_equal_boards_are_counted(ranking: Ranking, size: int, tied: int) -> None:
    found: dict[int, list[Counter[int]]] = {}
    for cards, counts in boards(size):
        found.setdefault(ranking.key(cards), []).append(counts)
    assert tied == sum(
        ways(one, other) for same in found.values() for one in same for other in same
    )


@pytest.mark.parametrize("first", [First.HIGHEST, First.LOWEST_ACE_LOW])
def test_one_of_two_boards_acts_first(first: First) -> None:
    """Whoever has the button: exactly one acts first, and it is the same one unless they tie."""
    sample = [cards for cards, _ in boards(3)][::7]
    for one, other in combinations(sample, 2):
        with_button = acts_first(first, 1, one, other)
        assert acts_first(first, 0, other, one) is not with_button
        if with_button:
            assert acts_first(first, 0, one, other)
    assert acts_first(first, 0, sample[0], sample[0])
    assert not acts_first(first, 1, sample[0], sample[0])


@dataclass
class Tree:
    """All sequences of bets of a hand: endings, decisions, and the most decisions in a row."""

    endings: int = 0
    decisions: int = 0
    longest: int = 0

    def explore(self, hand: Hand, validator: str, state: State, depth: int) -> None:
        if isinstance(state, Mid) or (isinstance(state, Begin) and hand.acts_now(state)):
            raises, owed = hand.raises(state), state.pot.waiter - state.pot.mover
            if raises or owed or (state.table.stake > state.pot.waiter):
                self.decisions += 1
                depth += 1
                if owed:
                    self.end(depth)
            forced = isinstance(state, Begin) and state.forced
            for x in raises if forced else (0, *raises):
                self.move(hand, validator, state, bet(hand, state, x), depth)
        else:
            move, _ = hand.choose(state)
            self.move(hand, validator, state, move, depth)

    def move(self, hand: Hand, validator: str, state: State, move: bytes, depth: int) -> None:
        evidence = hand.choose(state)[1]
        verdict = hand.turn(validator, state, move, evidence).verdict
        assert isinstance(verdict, Valid), (validator, verdict)
        if verdict.next is None:
            self.end(depth)
        else:
            self.explore(hand, verdict.next.validator, verdict.next.state, depth)  # type: ignore[arg-type]

    def end(self, depth: int) -> None:
        self.endings += 1
        self.longest = max(self.longest, depth)


def bet(hand: Hand, state: Begin | Mid, x: int) -> bytes:
    if isinstance(state, Begin):
        return hand.owed(state.pending, state.seats) + int_to_atom(x)
    return RAISE + int_to_atom(x) if x else CALL + hand.called(state)


def blinds(stake: int, structure: Structure, cap: int = 3) -> Stakes:
    return Stakes(1, stake, 1, 2, structure, cap)


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("game", "stakes", "counts"),
    [
        ("holdem", blinds(4, NO), (18, 16, 9)),
        ("holdem", blinds(5, NO), (98, 80, 10)),
        ("holdem", blinds(6, NO), (178, 144, 10)),
        ("holdem", blinds(8, FIXED), (170, 152, 11)),
        pytest.param("holdem", blinds(8, NO), (978, 736, 11), marks=LONG),
        pytest.param("holdem", blinds(8, POT), (882, 664, 11), marks=LONG),
        pytest.param("holdem", blinds(12, FIXED), (646, 550, 13), marks=LONG),
        pytest.param("holdem", blinds(12, FIXED, 1), (342, 286, 12), marks=LONG),
        ("five-draw", Stakes(1, 100, 0, 2, FIXED, 3, 1), (145, 90, 12)),
        ("five-stud", Stakes(1, 9, 0, 2, FIXED, 3, 1), (361, 316, 12)),
        ("seven-stud", Stakes(1, 17, 0, 4, FIXED, 3, 1, 1), (562, 506, 14)),
        pytest.param("razz", Stakes(1, 17, 0, 4, FIXED, 3, 1, 1), (562, 506, 14), marks=LONG),
    ],
)
def test_all_sequences_of_bets_are_counted(
    game: str, stakes: Stakes, counts: tuple[int, int, int]
) -> None:
    hand, tree = Hand(f"tree {game}", stakes, ROWS[game]), Tree()
    tree.explore(hand, "deal", hand.first, 0)
    assert (tree.endings, tree.decisions, tree.longest) == counts


@pytest.mark.parametrize("order", [First.HIGHEST, First.HIGHEST_ACE_LOW])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_programs_order_boards_as_the_rules_do(order: First, count: int) -> None:
    suits = range(4) if count == 1 else (0,)  # of more cards, only the ranks count
    cards = [4 * rank + suit for rank in range(13) for suit in suits]
    boards = [*combinations_with_replacement(cards, count)]
    by_rules = [board_value(order, board) for board in boards]
    by_programs = [open_value(order, board) for board in boards]
    pairs = sorted(zip(by_rules, by_programs, strict=True))
    assert all(
        (left[0] < right[0]) == (left[1] < right[1])
        and (left[0] == right[0]) == (left[1] == right[1])
        for left, right in pairwise(pairs)
    )
