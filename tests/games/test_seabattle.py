"""Sea battle, a game with hidden boards: installed as a package of its own, and played.

The tests of its rules are its own, in `examples/seabattle/tests`.
"""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from tests.channel.command import Ran
from tests.installed import EXAMPLES, install, run
from tests.paths import ROOT

PACKAGE = EXAMPLES / "seabattle"

LAST_RULE = "      (= (ships board) 4)               ; SEABATTLE-BOARD-4\n"


def seabattle(site: Path, *commands: list[object], package: Path = PACKAGE) -> list[Ran]:
    """Run commands in a process that finds the package and its entry point."""
    install(site, "channelsim-seabattle", {"games": ["seabattle = seabattle:GAME"]})
    return run([site, package], commands)


def test_it_is_played_checked_and_disputed(tmp_path: Path) -> None:
    """A player that hides an illegal board plays on, and loses everything when it shows it."""
    play, crosscheck, dispute = seabattle(
        tmp_path,
        ["play", "seabattle", "--hands", "2", "--seed", "x", "--json"],
        ["crosscheck", "seabattle", "--cases", "300", "--jobs", "1", "--json"],
        ["dispute", "run", "hides-wrong", "--game", "seabattle", "--seed", "a", "--json"],
    )
    assert (play.code, play.err) == (0, "")
    played = json.loads(play.out)
    assert [hand["game"] for hand in played["hands"]] == ["seabattle"] * 2
    assert all(sum(hand["payouts"].values()) == hand["amount"] for hand in played["hands"])
    assert played["checks"]["python_clvm_agree"]
    assert (crosscheck.code, crosscheck.err) == (0, "")
    assert dispute.code == 0, dispute.err
    disputed = json.loads(dispute.out)
    assert disputed["broken_promises"] == []
    assert disputed["got"] == {"initiator": 4000, "receiver": 2000}
    assert "SEABATTLE-BOARD-4" in dispute.out


@pytest.mark.long
def test_a_liar_shows_that_nobody_counts_the_ships(tmp_path: Path) -> None:
    """The chapter's mistake: honest games end as before, but an illegal board is accepted."""
    wrong = copytree(PACKAGE, tmp_path / "wrong", ignore=ignore_patterns("__pycache__"))
    file = wrong / "seabattle" / "board.clinc"
    text = file.read_text("utf-8")
    assert LAST_RULE in text
    assert f"-{LAST_RULE}" in (ROOT / "docs" / "hidden.md").read_text("utf-8")
    file.write_text(text.replace(LAST_RULE, ""), "utf-8")
    play, dispute = seabattle(
        tmp_path / "site",
        ["play", "seabattle", "--hands", "2", "--seed", "x", "--text"],
        ["dispute", "run", "hides-wrong", "--game", "seabattle", "--seed", "sea", "--text"],
        package=wrong,
    )
    assert (play.code, play.err) == (0, "")
    assert dispute.code == 1
    assert "\nbroken promise: law: it accepted what breaks CH-MOVE-4\n" in dispute.out


@pytest.mark.long
def test_a_campaign_finds_nothing(tmp_path: Path) -> None:
    (fuzz,) = seabattle(tmp_path, ["fuzz", "seabattle", "--seconds", "30", "--jobs", "1", "--json"])
    assert fuzz.code == 0, fuzz.out
