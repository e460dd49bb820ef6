from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.channel.command import Ran, channelsim

Capsys = pytest.CaptureFixture[str]

ENTROPY = """\
initiator = "000102030405060708090a0b0c0d0e0f"
receiver = "101112131415161718191a1b1c1d1e1f"
"""


def play(capsys: Capsys, tmp_path: Path, text: str, *options: object) -> Ran:
    file = tmp_path / "script.toml"
    file.write_text(text)
    return channelsim(capsys, "play", "spacepoker", "--script", file, *options)


def document(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran
    return dict(json.loads(ran.out))


def opener(capsys: Capsys, tmp_path: Path) -> str:
    """Find who opens the hand of these two secrets."""
    printed = document(play(capsys, tmp_path, f"[[hand]]\n{ENTROPY}"))
    verbs = [(a["player"], a["verb"]) for a in printed["hands"][0]["actions"]]
    return str(next(player for player, verb in verbs if verb in ("check", "bet")))


def test_a_script_says_which_hand_is_played(capsys: Capsys, tmp_path: Path) -> None:
    first = opener(capsys, tmp_path)
    second = "receiver" if first == "initiator" else "initiator"
    actions = [f"{first} bet 2", f"{second} raise 150m", f"{first} call"]
    text = f"unit = 100\nstack = 10\n[[hand]]\n{ENTROPY}actions = {json.dumps(actions)}\n"
    printed = document(play(capsys, tmp_path, text, "--seed", "whatever"))
    other = document(play(capsys, tmp_path, text, "--seed", "something else"))
    assert printed["hands"] == other["hands"]  # the secrets are fixed, so the seed plays no part
    hand = printed["hands"][0]
    decided = [(a["player"], a["verb"], a["amount"]) for a in hand["actions"]]
    assert (first, "bet", 200) in decided
    assert (second, "raise", 150) in decided
    # One unit each to begin with, then two, and one and a half: 450 in the pot from each.
    assert hand["payouts"][hand["result"]["winner"]] == 1000 + 450


def test_a_fold_by_script(capsys: Capsys, tmp_path: Path) -> None:
    first = opener(capsys, tmp_path)
    text = f'unit = 100\n[[hand]]\n{ENTROPY}actions = ["{first} fold"]\n'
    hand = document(play(capsys, tmp_path, text))["hands"][0]
    assert hand["result"]["kind"] == "fold"
    assert hand["payouts"][first] == 1000 - 100


def test_declining_a_hand_closes_the_channel(capsys: Capsys, tmp_path: Path) -> None:
    printed = document(
        play(capsys, tmp_path, '[[hand]]\n[[hand]]\ndecline = "initiator"\n[[hand]]\n')
    )
    assert len(printed["hands"]) == 1
    assert printed["checks"]["conserved"] is True


def test_first_says_who_moves_first(capsys: Capsys, tmp_path: Path) -> None:
    printed = document(
        play(capsys, tmp_path, '[[hand]]\nfirst = "receiver"\n[[hand]]\nfirst = "receiver"\n')
    )
    assert [hand["first"] for hand in printed["hands"]] == ["receiver", "receiver"]
    assert [hand["proposer"] for hand in printed["hands"]] == ["initiator", "receiver"]


def test_impossible_actions_are_named(capsys: Capsys, tmp_path: Path) -> None:
    first = opener(capsys, tmp_path)
    second = "receiver" if first == "initiator" else "initiator"
    for actions, says in (
        ([f"{second} check"], f"hand 1, action 1 '{second} check': it is {first}'s turn"),
        ([f"{first} call"], "hand 1, action 1"),
        ([f"{first} bet 100"], "hand 1, action 1"),
        ([f"{first} check", f"{second} dance"], f"hand 1, action 2 '{second} dance'"),
        ([f"{first} fold", f"{second} check"], "hand 1, action 2"),
    ):
        text = f"[[hand]]\n{ENTROPY}actions = {json.dumps(actions)}\n"
        ran = play(capsys, tmp_path, text)
        assert ran.code == 2
        assert says in ran.err
        assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[hand", "not TOML"),
        ("dance = 1\n", "dance"),
        ("[[hand]]\ninitiator = 'xyz'\n", "initiator"),
        ("[[hand]]\ninitiator = '0011'\n", "initiator"),
        ("[[hand]]\nactions = ['carol check']\n", "hand 1: action 1 is a player"),
        ("[[hand]]\nactions = 'initiator check'\n", "actions"),
        ("unit = 'many'\n", "unit"),
        ("unit = 0\n", "a unit of 0 mojos"),
        (
            "[[hand]]\ndecline = 'receiver'\nactions = ['receiver fold']\n",
            "declined has no actions",
        ),
        ("[[hand]]\nfirst = 'alice'\n", "not 'alice' (alice is now called initiator)"),
        ("[[hand]]\nactions = ['bob fold']\n", "(bob is now called receiver)"),
        ("[[hand]]\nbob = '00'\n", "unknown key `bob`; there are `initiator`, `receiver`"),
        ("[[hand]]\n[[hand]]\nfirst = 'carol'\n", "hand 2: first is initiator or receiver"),
    ],
)
def test_a_broken_script(capsys: Capsys, tmp_path: Path, text: str, says: str) -> None:
    ran = play(capsys, tmp_path, text)
    assert ran.code == 2
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1
