"""Wordle, a game with a signed dictionary: installed as a package of its own, and played.

The tests of its rules are its own, in `examples/wordle/tests`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.channel.command import Ran
from tests.installed import EXAMPLES, install, run

PACKAGE = EXAMPLES / "wordle"


def wordle(site: Path, *commands: list[object]) -> list[Ran]:
    """Run commands in a process that finds the package and its entry points."""
    install(
        site,
        "channelsim-wordle",
        {"games": ["wordle = wordle:GAME"], "adversaries": ["false-word = wordle.adversaries"]},
    )
    return run([site, PACKAGE], commands)


def test_it_is_played_checked_and_disputed(tmp_path: Path) -> None:
    """A guess that is no word is slashed on the node, under the signature of the gap around it."""
    play, crosscheck, dispute = wordle(
        tmp_path,
        ["play", "wordle", "--hands", "1", "--seed", "x", "--json"],
        ["crosscheck", "wordle", "--cases", "192", "--jobs", "1", "--json"],
        ["dispute", "run", "false-word@4", "--game", "wordle", "--seed", "b", "--json"],
    )
    assert (play.code, play.err) == (0, "")
    played = json.loads(play.out)
    assert [hand["game"] for hand in played["hands"]] == ["wordle"]
    assert all(sum(hand["payouts"].values()) == hand["amount"] for hand in played["hands"])
    assert played["checks"]["python_clvm_agree"]
    assert (crosscheck.code, crosscheck.err) == (0, "")
    assert dispute.code == 0, dispute.err
    assert "WORDLE-GUESS-4" in dispute.out
    disputed = json.loads(dispute.out)
    assert disputed["broken_promises"] == []
    assert disputed["got"] == {"initiator": 4000, "receiver": 2000}


def test_its_adversary_is_listed_for_its_own_game_only(tmp_path: Path) -> None:
    of_ours, of_another = wordle(
        tmp_path,
        ["dispute", "list", "--game", "wordle"],
        ["dispute", "list", "--game", "calpoker"],
    )
    assert "\nfalse-word " in of_ours.out
    assert "\nfalse-word " not in of_another.out
    assert "false-word (calpoker: no game with a dictionary)" in of_another.out


def proofs(site: Path, *arguments: str) -> dict[str, tuple[str, int]]:
    """The verdict and the paths of each claim about a validator."""
    (ran,) = wordle(site, ["prove", "wordle", *arguments, "--jobs", "1", "--json"])
    printed = json.loads(ran.out)["proofs"]
    return {proof["claim"]: (proof["verdict"], sum(proof["sizes"].values())) for proof in printed}


@pytest.mark.long
def test_a_guess_is_proved_with_every_history_and_evidence(tmp_path: Path) -> None:
    """The lengths of words in evidence need no path each: there are thousands of pairs of them."""
    ((verdict, paths),) = proofs(tmp_path, "--validator", "guess").values()
    assert verdict == "proved"
    assert paths < 200


@pytest.mark.long
def test_a_clue_is_proved_for_every_length(tmp_path: Path) -> None:
    proved = proofs(tmp_path, "--validator", "clue")
    assert {claim: verdict for claim, (verdict, _) in proved.items()} == {
        "rules": "proved",
        "lemma: the marks of a guess": "proved",
    }


@pytest.mark.long
def test_a_campaign_finds_nothing(tmp_path: Path) -> None:
    fuzz, vectors = wordle(
        tmp_path,
        ["fuzz", "wordle", "--seconds", "30", "--jobs", "1", "--json"],
        ["vectors", "make", "wordle", "--cases", "2000", "-o", tmp_path / "made.jsonl"],
    )
    assert fuzz.code == 0, fuzz.out
    assert vectors.code == 0, vectors.err
    made = [json.loads(line) for line in (tmp_path / "made.jsonl").read_text().splitlines()]
    assert any("signature" in case for case in made)
