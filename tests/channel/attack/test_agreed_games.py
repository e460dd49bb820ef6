"""Hands that were agreed on: those are not found, and others are, as is a false account of them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack import agreed_games
from channelsim.channel.attack.agreed_games import not_agreed_on, wrong_account, wrongly_dealt
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session import agreed_hands
from channelsim.channel.session.picks import Pick
from channelsim.channel.session.setup import Setup
from channelsim.games import registry

SETUP = Setup(("calpoker", "spacepoker"), "", 2, 1, 100, 1000, ("", ""))


def game(number: int, name: str, alice: int, timeout: int | None = None, **terms: Any) -> Any:
    agreed = registry.get(name).terms(SETUP.parameters(name))
    coin = SimpleNamespace(timeout=SETUP.game_timeout if timeout is None else timeout)
    return SimpleNamespace(id=number, terms=replace(agreed, **terms), alice=Side(alice), coin=coin)


FIRST = game(0, "calpoker", SETUP.first(0, "calpoker"))
SECOND = game(3, "spacepoker", SETUP.first(1, "spacepoker"))


def state(*games: Any, **fields: Any) -> Any:
    """A state after these games, each in one state by itself."""
    history = [SimpleNamespace(state=SimpleNamespace(games=(one,))) for one in reversed(games)]
    play = SimpleNamespace(history=[SimpleNamespace(state=SimpleNamespace(games=())), *history])
    return SimpleNamespace(play=play, dispute=None, closed=None, phase=Phase.CLOSED, **fields)


@pytest.mark.parametrize(
    ("games", "text"),
    [
        ((), ""),
        ((FIRST,), ""),
        ((FIRST, SECOND), ""),
        ((FIRST, FIRST), ""),
        ((FIRST, SECOND, game(4, "calpoker", 0)), "3 hands"),
        ((SECOND,), "not the next one"),
        ((game(0, "calpoker", 1 - SETUP.first(0, "calpoker")),), "exchanged seats"),
        ((game(0, "calpoker", FIRST.alice, 1),), "timeout"),
        ((game(0, "calpoker", FIRST.alice, 1000),), "timeout"),
        ((game(0, "calpoker", FIRST.alice, stakes=(200, 200)),), "other terms"),
    ],
)
def test_no_player_begins_what_it_did_not_agree_on(games: tuple[Any, ...], text: str) -> None:
    found = [*not_agreed_on(SETUP, state(*games))]
    assert len(found) == bool(text)
    assert all(text in how for how in found)


@pytest.mark.parametrize(
    ("pick", "text"),
    [
        (Pick("holdem"), ""),
        (Pick("holdem", "no"), ""),
        (Pick("holdem", "fixed"), "with other bets"),
        (Pick("razz"), "its dealer chose razz"),
        (None, ""),
    ],
)
def test_a_hand_is_the_one_that_its_dealer_chose(pick: Pick | None, text: str) -> None:
    terms = registry.get("holdem").terms(SETUP.parameters("holdem"))
    hand = SimpleNamespace(id=0, terms=terms)
    found = [*wrongly_dealt(SETUP, state(hand), [lambda number: pick, None])]
    assert len(found) == bool(text)
    assert all(text in how for how in found)


@pytest.mark.parametrize(
    ("played", "reason", "excused", "on_chain", "is_right"),
    [
        (1, "a balance", True, False, True),
        (1, "the chain", False, True, True),
        (2, "", True, False, True),
        (0, "a balance", True, False, False),
        (1, "", True, False, False),
        (2, "a balance", True, False, False),
        (1, "the chain", True, True, False),
    ],
)
def test_an_account_of_hands_is_true(
    monkeypatch: pytest.MonkeyPatch,
    played: int,
    reason: str,
    excused: bool,
    on_chain: bool,
    is_right: bool,
) -> None:
    account = agreed_hands.HandAccount(2, played, reason, excused)
    monkeypatch.setattr(agreed_games, "account_of", lambda *given: account)
    games = (FIRST, SECOND)[: 2 if played == 2 else 1]
    after = state(*games)
    after.dispute = object() if on_chain else None
    assert ([*wrong_account(SETUP, after, Side.INITIATOR)] == []) is is_right
