"""Proposals: what is a game's terms, and every rule that refuses one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.games.contract import Seat
from channelsim.games.errors import BadTerms
from channelsim.games.spacepoker.states import CommitA
from tests.games.table import GAME

LARGEST = 2**63 - 2


@given(st.integers(1, 10**9), st.integers(1, 1000))
def test_default_parameters_are_good_terms(unit: int, stack: int) -> None:
    terms = GAME.terms(GAME.default_parameters(unit, stack))
    assert terms.stakes == (unit * stack, unit * stack)
    assert (terms.amount, terms.unit, terms.game) == (2 * unit * stack, unit, "spacepoker")
    assert dict(terms.parameters) == GAME.default_parameters(unit, stack)


def test_the_first_coin_waits_for_alice() -> None:
    initial = GAME.initial(GAME.terms({"amount": 2000, "bet_unit": 100}))
    assert (initial.validator, initial.state) == ("commitA", CommitA(100))
    assert (initial.max_move_size, initial.mover_share) == (32, 0)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("SP-TERMS-1", {"amount": 20, "bet_unit": 1}, {"amount": 20}),
        ("SP-TERMS-1", {"amount": 20, "bet_unit": 1}, {}),
        ("SP-TERMS-1", {"amount": 20, "bet_unit": 1}, {"amount": 20, "bet_unit": 1, "ante": 1}),
        ("SP-TERMS-1", {"amount": 20, "bet_unit": 1}, {"amount": 20, "bet_unit": True}),
        ("SP-TERMS-1", {"amount": 20, "bet_unit": 1}, {"amount": "20", "bet_unit": 1}),
        ("SP-TERMS-1", {"amount": 20, "bet_unit": 1}, {"amount": 20.0, "bet_unit": 1}),
        ("SP-TERMS-2", {"amount": 2, "bet_unit": 1}, {"amount": 0, "bet_unit": 1}),
        ("SP-TERMS-2", {"amount": 2, "bet_unit": 1}, {"amount": 3, "bet_unit": 1}),
        ("SP-TERMS-2", {"amount": 2, "bet_unit": 1}, {"amount": -2, "bet_unit": 1}),
        ("SP-TERMS-2", {"amount": 2, "bet_unit": 1}, {"amount": -(10**9999), "bet_unit": 1}),
        ("SP-TERMS-3", {"amount": LARGEST, "bet_unit": 1}, {"amount": 2**63, "bet_unit": 1}),
        ("SP-TERMS-3", {"amount": LARGEST, "bet_unit": 1}, {"amount": 10**9999, "bet_unit": 1}),
        ("SP-TERMS-4", {"amount": 20, "bet_unit": 10}, {"amount": 20, "bet_unit": 11}),
        ("SP-TERMS-4", {"amount": 20, "bet_unit": 1}, {"amount": 20, "bet_unit": 0}),
        ("SP-TERMS-4", {"amount": 20, "bet_unit": 1}, {"amount": 20, "bet_unit": -1}),
        ("SP-TERMS-4", {"amount": 20, "bet_unit": 1}, {"amount": 20, "bet_unit": 10**9999}),
        ("SP-TERMS-5", {"amount": 20, "bet_unit": 5}, {"amount": 20, "bet_unit": 4}),
    ],
)
def test_rules_of_terms(rule: str, good: dict[str, Any], bad: dict[str, Any]) -> None:
    assert GAME.terms(good)
    with pytest.raises(BadTerms, match=rule) as refused:
        GAME.terms(bad)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 150


def test_a_player_wants_16_bytes_and_uses_no_more() -> None:
    terms = GAME.terms({"amount": 20, "bet_unit": 1})
    with pytest.raises(ValueError, match="entropy"):
        GAME.player(Seat.ALICE, terms, bytes(15))
    players = [GAME.player(Seat.ALICE, terms, bytes(16) + end * 16) for end in (b"a", b"b")]
    assert players[0] == players[1]
