"""The derivation of cards, against CLVM's own operators."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import example, given
from hypothesis import strategies as st

from channelsim.clsp.programs import Program
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import atom_to_int, to_list
from channelsim.games.spacepoker.cards import (
    above,
    board,
    cards,
    chain,
    draw_number,
    hole,
    wins_toss,
)
from channelsim.games.spacepoker.player import ChainValue, known_cards

# (sha256 (logxor 2 5))
MIXED = Program(bytes.fromhex("ff0bffff1aff02ff058080"))

preimages = st.binary(min_size=16, max_size=16)
images = st.binary(min_size=32, max_size=32)


@given(preimages, images)
@example(b"\x80" + bytes(15), b"\xff" * 16 + b"\x80" + bytes(15))  # equal numbers: hash of ()
@example(b"\x7f" * 16, b"\xff" * 32)
@example(bytes(16), bytes(32))
def test_the_xor_is_clvms(x: bytes, y: bytes) -> None:
    assert draw_number(x, y) == atom_to_int(evaluate_bytes(MIXED, x, y))
    assert draw_number(x, y) == draw_number(y, x)


def evaluate_bytes(program: Program, *arguments: bytes) -> bytes:
    result = evaluate(program, to_list(arguments))
    assert isinstance(result, bytes)
    return result


def test_equal_values_hash_the_empty_string() -> None:
    assert draw_number(b"\x01" * 32, b"\x01" * 32) == atom_to_int(sha256(b"").digest())


@given(st.integers(-(2**255), 2**255 - 1))
def test_cards_are_floored_digits(number: int) -> None:
    drawn = cards(number, 3)
    assert [rank - 2 for rank in drawn] == [number // 13**i % 13 for i in range(3)]
    assert cards(number, 2) == drawn[:2]


@given(preimages, images)
def test_the_boost_is_a_third_of_the_numbers(own: bytes, others: bytes) -> None:
    drawn, boost = hole(own, others)
    number = draw_number(own, others)
    assert drawn == cards(number, 2)
    assert boost == (1 if number % 3 == 0 else 0)


@given(preimages, preimages)
def test_known_cards_at_every_level(a0: bytes, b0: bytes) -> None:
    a, b = chain(a0), chain(b0)
    common = (
        cards(draw_number(a[3], b[3]), 3)
        + cards(draw_number(a[2], b[2]), 1)
        + cards(draw_number(a[1], b[1]), 1)
    )
    for level, count in ((5, 0), (4, 0), (3, 3), (2, 4), (1, 5), (0, 5)):
        found = known_cards(a, ChainValue(level, b[level]))
        assert found.board == common[:count]
        assert (found.own is None) == (level > 4)
        assert (found.other is None) == (level > 0)
        if found.own is not None:
            assert (found.own.hole, found.own.boost) == hole(a0, b[4])
        if found.other is not None:
            assert (found.other.hole, found.other.boost) == hole(b0, a[4])
    assert board(a[1], b[1], 1) == common
    assert above(a0, 5) == a[5]


@given(images, images)
@example(bytes(32), bytes(32))
def test_one_opens_and_a_swap_flips_it(own: bytes, other: bytes) -> None:
    both = {wins_toss(own, other), wins_toss(other, own)}
    assert both == ({True} if own == other else {True, False})
