"""Proposals: what is a game's terms, and every rule that refuses one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.games.calpoker.states import StateA
from channelsim.games.contract import Seat
from channelsim.games.errors import BadTerms
from tests.games.calpoker.cal import GAME

LARGEST = 2**63 - 2


@given(st.integers(1, 10**9), st.integers(1, 1000))
def test_default_parameters_are_good_terms(unit: int, stack: int) -> None:
    terms = GAME.terms(GAME.default_parameters(unit, stack))
    assert terms.stakes == (unit * stack, unit * stack)
    assert (terms.amount, terms.unit, terms.game) == (2 * unit * stack, 1, "calpoker")
    assert dict(terms.parameters) == GAME.default_parameters(unit, stack)


def test_the_first_coin_waits_for_alice() -> None:
    initial = GAME.initial(GAME.terms({"amount": 2000}))
    assert (initial.validator, initial.state) == ("a", StateA())
    assert (initial.max_move_size, initial.mover_share) == (32, 0)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("CP-TERMS-1", {"amount": 20}, {}),
        ("CP-TERMS-1", {"amount": 20}, {"amount": 20, "bet_unit": 1}),
        ("CP-TERMS-1", {"amount": 20}, {"stake": 20}),
        ("CP-TERMS-1", {"amount": 20}, {"amount": True}),
        ("CP-TERMS-1", {"amount": 20}, {"amount": "20"}),
        ("CP-TERMS-1", {"amount": 20}, {"amount": 20.0}),
        ("CP-TERMS-2", {"amount": 2}, {"amount": 0}),
        ("CP-TERMS-2", {"amount": 2}, {"amount": 3}),
        ("CP-TERMS-2", {"amount": 2}, {"amount": -2}),
        ("CP-TERMS-2", {"amount": 2}, {"amount": -(10**9999)}),
        ("CP-TERMS-3", {"amount": LARGEST}, {"amount": 2**63}),
        ("CP-TERMS-3", {"amount": LARGEST}, {"amount": 10**9999}),
    ],
)
def test_rules_of_terms(rule: str, good: dict[str, Any], bad: dict[str, Any]) -> None:
    assert GAME.terms(good)
    with pytest.raises(BadTerms, match=rule) as refused:
        GAME.terms(bad)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 150


def test_a_player_wants_32_bytes_and_uses_no_more() -> None:
    terms = GAME.terms({"amount": 20})
    for seat in Seat:
        with pytest.raises(ValueError, match="entropy"):
            GAME.player(seat, terms, bytes(31))
        one, other = (GAME.player(seat, terms, bytes(32) + more) for more in (b"a", b"b"))
        assert one == other
        assert GAME.player(seat, terms, bytes(31) + b"x") != one
