"""A person at the prompt: who it is, what it can write, and what it sees how often."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from channelsim.channel.cli.prompt import MOST_WRONG
from tests.channel.command import Ran, channelsim

Play = Callable[..., Ran]
BOX = "┌│└"


@pytest.fixture
def play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Play:
    """Play a hand of Space Poker with these answers, and leave the table after the last one."""

    def run(*answers: str, policy: str = "ask", game: str = "spacepoker", seed: int = 41) -> Ran:
        left = iter(answers)
        monkeypatch.setattr("builtins.input", lambda: next(left, "quit"))
        options = ("--seed", seed, "--hands", "1", "--policy", policy)
        return channelsim(capsys, "play", game, *options)

    return run


def bets(ran: Ran) -> list[int]:
    """What the initiator bet or raised, in mojos."""
    actions: list[dict[str, Any]] = json.loads(ran.out)["hands"][0]["actions"]
    return [
        action["amount"]
        for action in actions
        if action["player"] == "initiator" and action["verb"] in ("bet", "raise")
    ]


@pytest.mark.parametrize(
    ("answers", "amounts"),
    [
        (("raise pot", "half pot", "check", "check"), [200, 300]),
        (("Raise Half", "pot", "bet 1m", "check"), [100, 400, 1]),
        (("check", "bet all-in"), [900]),
        (("pot", "pot", "pot"), [200, 600]),
    ],
)
def test_bets_by_their_size(play: Play, answers: tuple[str, ...], amounts: list[int]) -> None:
    """The pot is 200 mojos at first; the last pot-sized bet is all that is left, bounded."""
    ran = play(*answers)
    if ran.code == 2:
        ran = play(*answers, *["check"] * 4)
    assert ran.code == 0, ran.err
    assert bets(ran)[: len(amounts)] == amounts


def test_the_prompt_offers_the_sizes_that_it_takes(play: Play) -> None:
    ran = play()
    assert "shortcuts    half pot: 1 unit (100 mojos); pot: 2 units (200 mojos);" in ran.err
    assert "pot" not in play(game="calpoker").err.partition("you can:")[2]


@pytest.mark.parametrize(("policy", "name"), [("ask", "initiator"), ("caller,ask", "receiver")])
def test_a_person_is_told_who_it_is(play: Play, policy: str, name: str) -> None:
    ran = play(*(["y"] if name == "receiver" else []), "?", policy=policy)
    assert ran.err.count(f"You are the {name}.") == 1
    assert f"{name.title()}, your move> " in ran.err


def test_help_explains_amounts_and_repeats_the_cards(play: Play) -> None:
    before, _, after = play("help").err.partition("your move> ")
    assert "Amounts are in units of 100 mojos, as in 2 or 2.5, or in mojos with an m" in " ".join(
        after.split()
    )
    for text in ("your cards ", "you can:", "call (check too)"):
        assert (before.count(text), after.count(text)) == (1, 1), text


def test_the_board_is_shown_once_in_a_street(play: Play) -> None:
    """Against raises there are several decisions in a street, with the same cards."""
    ran = play(*["raise 1m"] * 3, *["call", "check"] * 5, policy="ask,aggressive", seed=7)
    decisions = ran.err.count("you can:")
    assert decisions > ran.err.count("your cards ") > 0
    assert ran.err.count("pot  ") == decisions, "the money is shown each time that it changed"


@pytest.mark.parametrize("game", ["spacepoker", "calpoker"])
def test_cards_fit_at_40_columns(play: Play, monkeypatch: pytest.MonkeyPatch, game: str) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    ran = play(*["check"] * 4 if game == "spacepoker" else ["1 2 3 4"], game=game)
    drawn = [line for line in ran.err.splitlines() if set(BOX) & set(line)]
    assert max(map(len, drawn)) <= 40
    assert any(line.count("┌───┐") == 4 for line in drawn)
    for sign in ("┌───┐", "└───┘"):
        count = sum(line.count(sign) for line in drawn)
        assert count == sum(line.count("│") for line in drawn) / 2 > 0


def test_answers_that_say_nothing_end(play: Play) -> None:
    ran = play(*[""] * 1000)
    assert ran.code == 2
    assert f"{MOST_WRONG} answers in a row were no action" in ran.err.splitlines()[-1]
    assert play(*["what"] * (MOST_WRONG - 1), "fold").code == 0
