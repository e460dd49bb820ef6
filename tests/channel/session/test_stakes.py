"""Stakes that differ: each player needs its own, and the story names both."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.session.setup import Setup, check
from channelsim.games import registry
from channelsim.games.contract import Game, Parameters, Terms
from tests.channel.command import channelsim


@pytest.fixture
def uneven(monkeypatch: pytest.MonkeyPatch) -> Game:
    """California Poker in which Alice stakes three times as much as Bob."""
    even = registry.get("calpoker")

    def terms(parameters: Parameters) -> Terms:
        found = even.terms(parameters)
        quarter = found.amount // 4
        return replace(found, stakes=(found.amount - quarter, quarter))

    game = replace(even, terms=terms)
    monkeypatch.setattr(registry, "get", lambda name: game)
    return game


def setup(balance: int, hands: int = 2) -> Setup:
    return Setup(("calpoker",), "stakes", hands, 100, 10, balance, ("random", "random"))


def test_stakes_are_by_side(uneven: Game) -> None:
    both = setup(5000)
    assert [both.stakes(number) for number in range(2)] == [(1500, 500), (500, 1500)]


def test_a_balance_covers_the_stakes_of_the_first_hand(uneven: Game) -> None:
    assert check(setup(1500)).balance == 1500
    with pytest.raises(
        UsageError, match="a balance of 1,499 mojos does not cover one stake of 150"
    ):
        check(setup(1499))


def test_both_stakes_are_named(uneven: Game, capsys: pytest.CaptureFixture[str]) -> None:
    ran = channelsim(capsys, "play", "calpoker", "--hands", 1, "--seed", 1, "--text")
    assert ran.code == 0
    said = " ".join(ran.out.split())
    assert (
        "Proposed by the initiator, for 15 units (1,500 mojos) of the initiator and 5 units"
        " (500 mojos) of the receiver; the initiator moves first, the receiver second." in said
    )


def test_hands_end_when_a_player_cannot_stake_its_own_part(
    uneven: Game, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("play", "calpoker", "--hands", 40, "--seed", 2, "--balance", 1500)
    ran = channelsim(capsys, *arguments)
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    played = document["hands"]
    assert 0 < len(played) < 40
    assert "no longer covers the stake" in document["no_more_hands"]


def test_a_session_without_a_hand_has_failed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "declined.toml"
    script.write_text('[[hand]]\ndecline = "receiver"\n')
    ran = channelsim(capsys, "play", "calpoker", "--script", script, "--seed", 1)
    assert (ran.code, ran.err) == (0, "")  # a player's own decision
    # A game whose terms have changed since the setup was checked.
    stakes = chain([(0, 0)], repeat((10_001, 0)))
    monkeypatch.setattr(Setup, "stakes", lambda self, number: next(stakes))
    ran = channelsim(capsys, "play", "calpoker", "--hands", 2, "--seed", 1)
    assert (ran.code, json.loads(ran.out)["hands"]) == (1, [])
    assert ran.err == (
        "channelsim: no hand was played: the initiator's balance of 10,000 mojos no longer"
        " covers the stake\n"
    )
