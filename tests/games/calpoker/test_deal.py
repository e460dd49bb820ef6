"""The deal and the swap: sixteen different cards, each equally likely everywhere."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import combinations
from math import comb, perm

from hypothesis import given
from hypothesis import strategies as st

from channelsim.games.calpoker.deal import (
    FOUR_OF_EIGHT,
    Cards,
    choose,
    deal,
    deal_from,
    final_hands,
    lift,
    remaining,
)
from channelsim.games.calpoker.deal import given as gives

halves = st.binary(min_size=16, max_size=16)
numbers = st.integers(-(2**255), 2**255 - 1)
masks = st.sampled_from(sorted(FOUR_OF_EIGHT))


def specified(number: int) -> tuple[list[int], list[int]]:
    """The specification again, word by word: the number is never reduced, lists are rebuilt."""

    def pick(n: int, k: int, left: int) -> tuple[list[int], int]:
        if k == 1:
            return [left % n], left // n
        first, left = pick(n, k // 2, left)
        second, left = pick(n - k // 2, k - k // 2, left)
        return sorted(first + moved_up(second, first)), left

    def moved_up(cards: list[int], past: list[int]) -> list[int]:
        free = [card for card in range(52 + 8) if card not in past]
        return [free[card] for card in cards]

    alice, left = pick(52, 8, number)
    bob, _ = pick(44, 8, left)
    return alice, moved_up(bob, alice)


@given(numbers)
def test_the_deal_is_the_specifications(number: int) -> None:
    alice, bob = specified(number)
    assert deal_from(number) == (tuple(alice), tuple(bob))


@given(halves, halves, st.integers(1, 2**62))
def test_sixteen_different_cards_ascending(preimage: bytes, seed: bytes, amount: int) -> None:
    alice, bob = deal(preimage, seed, amount)
    assert len({*alice, *bob}) == 16
    assert {*alice, *bob} <= set(range(52))
    assert (list(alice), list(bob)) == (sorted(alice), sorted(bob))


def test_small_choices_are_uniform_to_the_number() -> None:
    """Each set comes as often as its k! orders, over all numbers that there are."""
    for n, k in ((5, 2), (6, 3), (7, 4), (6, 5)):
        every = Counter(tuple(choose(n, k, number)[1]) for number in range(perm(n, k)))
        assert set(every) == set(combinations(range(n), k))
        assert set(every.values()) == {perm(n, k) // comb(n, k)}
        assert {choose(n, k, number)[0] for number in range(perm(n, k))} == {0}
        assert {choose(n, k, -1 - number)[0] for number in range(perm(n, k))} == {-1}


@given(st.sets(st.integers(0, 43), min_size=1), st.sets(st.integers(0, 51), max_size=8))
def test_lifting_skips_the_cards_that_are_gone(cards: set[int], gone: set[int]) -> None:
    free = [card for card in range(52) if card not in gone]
    assert lift(sorted(cards), sorted(gone)) == [free[card] for card in sorted(cards)]


def test_the_deal_is_uniform_by_a_chi_square_test() -> None:
    """Each card equally often in each hand, and each pair of cards in one hand.

    The statistics have their own mean and variance; six standard deviations are no accident.
    """
    deals = 20_000
    places: Counter[tuple[int, int]] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    for number in range(deals):
        seed = sha256(number.to_bytes(4, "big")).digest()
        alice, bob = deal(seed[:16], seed[16:], 2000)
        places.update((0, card) for card in alice)
        places.update((1, card) for card in bob)
        pairs.update(combinations(alice, 2))
    for observed, cells, drawn, of in (
        ([places[0, card] for card in range(52)], 52, 8, 52),
        ([places[1, card] for card in range(52)], 52, 8, 52),
        ([pairs[pair] for pair in combinations(range(52), 2)], comb(52, 2), 28, comb(52, 2)),
    ):
        expected = deals * drawn / of
        chi_square = sum((count - expected) ** 2 / expected for count in observed)
        # Cards are drawn without repeats, which makes the counts a little steadier.
        freedom = (cells - 1) * (1 - drawn / of)
        assert abs(chi_square - freedom) < 6 * (2 * freedom) ** 0.5


@given(halves, masks, masks)
def test_the_swap(preimage: bytes, mine: int, yours: int) -> None:
    alice, bob = deal(preimage, bytes(16), 2)
    final = final_hands((alice, bob), mine, yours)
    assert [len(cards) for cards in final] == [8, 8]
    assert sorted(final[0] + final[1]) == sorted(alice + bob)
    assert all(list(cards) == sorted(cards) for cards in final)
    assert set(final[0]) == _held(alice, mine) | (set(bob) - _held(bob, yours))
    assert set(gives(alice, mine)) == set(alice) - _held(alice, mine) == set(final[1]) - set(bob)
    assert set(remaining(bob, yours)) == _held(bob, yours)


def _held(cards: Cards, mask: int) -> set[int]:
    return {card for place, card in enumerate(cards) if not mask >> place & 1}
