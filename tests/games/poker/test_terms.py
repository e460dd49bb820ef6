"""The terms of poker games: what a proposal may say, and what a hand needs besides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Seat
from channelsim.games.dealing import deal
from channelsim.games.errors import BadTerms
from channelsim.games.poker.terms import stakes
from channelsim.games.poker.variants import VARIANTS

GAME = registry.get("holdem")
GOOD = {"amount": 2000, "chip": 100, "bet": 2, "structure": 0, "cap": 3}


def test_the_default_parameters_are_good() -> None:
    assert GAME.default_parameters(100, 10) == GOOD
    terms = GAME.terms(GOOD)
    assert (terms.stakes, terms.unit, terms.deck) == ((1000, 1000), 100, None)
    money = stakes(VARIANTS["holdem"], terms)
    assert (money.small_blind, money.bet, money.stake) == (1, 2, 10)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"cap": None}, 1),
        ({"point": 1}, 1),
        ({"ante": 0}, 8),
        ({"ante": 9}, 5),
        ({"chip": True}, 1),
        ({"amount": 0}, 2),
        ({"amount": 2001}, 2),
        ({"amount": 2**63}, 2),
        ({"chip": 0}, 3),
        ({"chip": 300}, 3),
        ({"chip": 2000}, 3),
        ({"bet": 0}, 4),
        ({"bet": 3}, 4),
        ({"bet": -2}, 4),
        ({"bet": 12}, 5),
        ({"structure": 3}, 6),
        ({"structure": -1}, 6),
        ({"cap": 256}, 6),
        ({"cap": -1}, 6),
    ],
)
def test_other_parameters_are_refused(change: dict[str, int | None], rule: int) -> None:
    parameters = {**GOOD, **change}
    given = {name: value for name, value in parameters.items() if value is not None}
    with pytest.raises(BadTerms, match=f"PK-TERMS-{rule}"):
        GAME.terms(given)


@pytest.mark.parametrize(
    "change",
    [
        {"bet": 10},
        {"structure": 2, "cap": 255},
        {"structure": 1, "cap": 0},
        {"chip": 1},
        {"ante": 8},
    ],
)
def test_the_bounds_are_within(change: dict[str, int]) -> None:
    assert GAME.terms({**GOOD, **change}).amount == 2000


def test_a_hand_needs_a_deck_of_its_positions() -> None:
    terms = GAME.terms(GOOD)
    with pytest.raises(BadTerms, match="PK-TERMS-7"):
        GAME.initial(terms)
    dealt, (alices, _) = deal(GAME, terms, Chance(b"deck"))
    assert dealt.deck is not None
    first = GAME.initial(dealt)
    assert (first.validator, first.max_move_size, first.mover_share) == ("deal", 64, 800)
    short = replace(dealt, deck=replace(dealt.deck, locks=dealt.deck.locks[:-1]))
    with pytest.raises(BadTerms, match="PK-TERMS-7"):
        GAME.initial(short)
    with pytest.raises(ValueError, match="entropy"):
        GAME.player(Seat.ALICE, dealt, alices[:-1])
