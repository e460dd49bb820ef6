"""Pots in halves: the odd chip, and both halves tied."""

from __future__ import annotations

import pytest

from channelsim.games.poker.selections import pot_share, split_quarters


@pytest.mark.parametrize(
    ("high", "low", "of_four"),
    [
        *((1, None, 4), (0, None, 2), (-1, None, 0)),
        *((1, 1, 4), (1, 0, 3), (1, -1, 2), (0, 1, 3), (0, 0, 2), (0, -1, 1)),
        *((-1, 1, 2), (-1, 0, 1), (-1, -1, 0)),
    ],
)
def test_quarters(high: int, low: int | None, of_four: int) -> None:
    assert split_quarters(high, low) == of_four


def test_the_odd_chip_goes_to_the_seat_that_is_not_the_button() -> None:
    """B wins high and the low is tied: 13 and 37; everything tied: 25 each."""
    assert pot_share(50, split_quarters(-1, 0), 0) == 13
    assert pot_share(50, split_quarters(1, 0), 1) == 37
    assert pot_share(50, split_quarters(0, 0), 0) == pot_share(50, split_quarters(0, 0), 1) == 25


def test_shares_of_both_seats_make_the_pot() -> None:
    for pot in range(0, 40, 2):
        for of_four in range(5):
            share = pot_share(pot, of_four, 0)
            assert share + pot_share(pot, 4 - of_four, 1) == pot
            assert 0 <= share * 4 - pot * of_four <= 3
            if of_four in (0, 2, 4):
                assert share * 4 == pot * of_four
