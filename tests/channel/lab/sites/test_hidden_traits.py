"""Traits of legal hidden values: learned where they hold, and not where chance alone would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hidden_traits import DRAWS, Traits, learned
from channelsim.games.chance import Chance

SALT = 15


def salted(chance: Chance, numbers: Sequence[int]) -> bytes:
    return b"".join(bytes([number]) + chance.bytes(SALT) for number in numbers)


def rising(chance: Chance) -> bytes:
    return salted(chance, sorted(chance.draw(range(10, 100), 5)))


def drawn(chance: Chance) -> bytes:
    return salted(chance, chance.draw(range(52), 8))


def independent(chance: Chance) -> bytes:
    return salted(chance, [chance.below(90) for _ in range(5)])


def dice(chance: Chance) -> bytes:
    return salted(chance, [sum(chance.between(1, 6) for _ in range(6)) for _ in range(2)])


@cache
def traits_of(legal: Callable[[Chance], bytes]) -> Traits:
    chance = Chance(b"legal")
    traits = learned([legal(chance) for _ in range(DRAWS)])
    assert traits is not None
    return traits


def with_numbers(traits: Traits, value: bytes, numbers: dict[int, int]) -> bytes:
    cells = bytearray(traits.cells(value))
    for at, number in numbers.items():
        cells[at] = number
    return traits.with_cells(value, bytes(cells))


@pytest.mark.parametrize(
    ("numbers", "what"),
    [
        ({4: 100}, "at most 99 in a legal one"),
        ({0: 9}, "never below 10 in a legal one"),
        ({0: 200}, "at most 99 in a legal one"),
        ({2: 50, 3: 50}, "byte 48 is not above byte 32"),
        ({0: 60, 1: 50}, "byte 16 is not above byte 0"),
    ],
)
def test_numbers_in_order_within_bounds(numbers: dict[int, int], what: str) -> None:
    traits = traits_of(rising)
    value = salted(Chance(b"salt"), [20, 30, 40, 60, 70])
    assert traits.places == (0, 16, 32, 48, 64)
    assert traits.broken(value) == ""
    assert what in traits.broken(with_numbers(traits, value, numbers))


def test_cards_of_a_deck_are_different() -> None:
    traits = traits_of(drawn)
    assert traits.distinct
    assert not traits.rising
    value = drawn(Chance(b"other"))
    same = with_numbers(traits, value, {3: traits.cells(value)[5]})
    assert "are equal" in traits.broken(same)


def test_independent_numbers_may_be_equal_and_in_any_order() -> None:
    traits = traits_of(independent)
    assert not traits.distinct
    assert not traits.rising
    assert traits.broken(salted(Chance(b"salt"), [0, 0, 89, 3, 3])) == ""


def test_a_bound_that_chance_seldom_reaches_is_none() -> None:
    # Six dice: 6 and 36 come once in 46,656 draws each.
    traits = traits_of(dice)
    assert (traits.lowest, traits.highest) == (None, None)
    assert traits.broken(salted(Chance(b"salt"), [6, 36])) == ""


def test_numbers_at_a_border_break_the_bounds_and_the_order() -> None:
    traits, chance = traits_of(rising), FastChance(b"border")
    value = salted(Chance(b"salt"), [20, 30, 40, 60, 70])
    others = [traits.at_a_border(value, (64,), chance) for _ in range(100)]
    assert all(other[:64] + other[65:] == value[:64] + value[65:] for other in others)
    assert {60, 100} <= {other[64] for other in others}
