"""Code that all games share: reading states, masks, counting, amounts."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.amounts import amount_text, in_units, read_amount
from channelsim.games.counting import RANKS, WEIGHTS, groups, is_run, masks, pickers, read_mask
from channelsim.games.errors import BadState, IllegalAction
from channelsim.games.forms import read_bytes, read_int, read_list

values = st.recursive(st.binary(max_size=4), lambda inner: st.tuples(inner, inner), max_leaves=8)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_sums_of_weights_distinguish_hands(size: int) -> None:
    hands = list(combinations_with_replacement(RANKS, size))
    assert len({sum(WEIGHTS[rank] for rank in hand) for hand in hands}) == len(hands)
    assert 7 * max(WEIGHTS) < 2**30


def test_sums_of_weights_distinguish_hands_of_eight_from_one_pack() -> None:
    """With at most four cards of a rank; more of them are in no pack."""
    hands = [
        hand
        for hand in combinations_with_replacement(RANKS, 8)
        if all(hand[i] != hand[i + 4] for i in range(4))
    ]
    assert len(hands) == 120_055
    assert len({sum(WEIGHTS[rank] for rank in hand) for hand in hands}) == len(hands)
    suited = [cards for size in (5, 6, 7, 8) for cards in combinations(RANKS, size)]
    assert len({sum(WEIGHTS[rank] for rank in cards) for cards in suited}) == len(suited)
    assert 8 * max(WEIGHTS) < 2**30


def test_no_longer_run_is_missed_by_the_groups() -> None:
    for low in range(2, 11):
        counts, ranks = groups(tuple(range(low, low + 5)))
        assert counts == (1, 1, 1, 1, 1)
        assert is_run(ranks)
    assert not is_run(groups((14, 2, 3, 4, 5))[1])


@given(st.lists(st.integers(2, 14), min_size=1, max_size=9))
def test_groups_hold_every_card(ranks: list[int]) -> None:
    counts, different = groups(ranks)
    assert sum(counts) == len(ranks)
    assert list(zip(counts, different, strict=True)) == sorted(
        {(ranks.count(rank), rank) for rank in ranks}, reverse=True
    )


def test_masks_and_what_they_pick() -> None:
    for of, take in ((7, 5), (8, 5), (8, 4)):
        every = masks(of, take)
        assert all(mask.bit_count() == take and mask < 1 << of for mask in every)
        assert {pickers(of, take)[mask](range(of)) for mask in every} == {
            tuple(i for i in range(of) if mask >> i & 1) for mask in every
        }


@given(values)
def test_a_mask_is_one_byte(value: Value) -> None:
    expected = value[0] if isinstance(value, bytes) and len(value) == 1 else None
    assert read_mask(value) == expected


@given(values, st.integers(0, 4))
def test_a_list_is_read_whole_or_refused(value: Value, length: int) -> None:
    try:
        elements = read_list(value, length, "x")
    except BadState:
        return
    assert len(elements) == length
    assert to_list(elements) == value


@pytest.mark.parametrize("atom", [b"\x00", b"\x00\x01", b"\xff\xff", b"\x02", b"\xff", (NIL, NIL)])
def test_integers_out_of_form_or_bounds_are_refused(atom: Value) -> None:
    with pytest.raises(BadState, match="bet_unit"):
        read_int(atom, "bet_unit", 0, 1)


def test_atoms_of_another_size_are_refused() -> None:
    assert read_bytes(b"ab", "salt", 2) == b"ab"
    for value in (b"abc", b"", (NIL, NIL)):
        with pytest.raises(BadState):
            read_bytes(value, "salt", 2)


@given(st.integers(0, 2**63), st.integers(1, 10**12))
def test_an_amount_written_exactly_is_read_back(mojos: int, unit: int) -> None:
    text = in_units(mojos, unit)
    if not text.startswith("~"):
        assert read_amount(text, unit) == mojos
    assert read_amount(f"{mojos}m", unit) == mojos
    assert f"{mojos:,}" in amount_text(mojos, unit)


@pytest.mark.parametrize(
    "text", ["", ".", "m", "-1", "1e3", "1/2", "1..2", "٣", "2 ", "+2", "0x2", "9" * 99, "nan"]
)
def test_text_that_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(IllegalAction):
        read_amount(text, 100)


@pytest.mark.parametrize("text", ["0.001", "2.5m", "1.005"])
def test_parts_of_a_mojo_are_refused(text: str) -> None:
    with pytest.raises(IllegalAction, match="whole number"):
        read_amount(text, 100)
