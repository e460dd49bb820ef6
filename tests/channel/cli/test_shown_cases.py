"""A judge or a player that fails or hangs, and a state out of its range: shown with the case."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copy

import pytest

from tests.channel.cli.test_plugins import PARITY
from tests.channel.cli.test_wrong_answers import wrong_game
from tests.channel.command import channelsim
from tests.channel.lab.crosscheck.test_own_rules import BID, with_rules
from tests.installed import install, run
from tests.test_called import ENDLESS, IMPATIENT

LEADS = 'Next("reveal", Revealing(state.commit, len(move)), 16)'
CASE = (
    r"\(the judge of guess: state 0x[0-9a-f]{4}…[0-9a-f]{4}, move (1|\(\)), share \d+ of \d+,"
    r" evidence \S+\)"
)
Changes = tuple[tuple[str, str], ...]

QUICK = ("--seconds", 0.1, "--jobs", 1)


def test_a_judge_that_raises_is_shown_with_the_case_in_every_command(tmp_path: Path) -> None:
    raising = wrong_game("raising", LEADS, "1 // 0")
    (tmp_path / "raising.py").write_text(raising)
    install(tmp_path, "mine", {"games": ["raising = raising:GAME"]})
    commands: list[tuple[object, ...]] = [
        ("play", "raising", "--hands", 1, "--json"),
        ("crosscheck", "raising", "--cases", 60, "--jobs", 1),
        ("fuzz", "raising", *QUICK, "--out", tmp_path / "out"),
        ("conform", "raising", "--cases", 60, *QUICK),
        ("vectors", "make", "raising", "--cases", 60, "-o", tmp_path / "cases.jsonl"),
    ]
    for command, ran in zip(commands, run((tmp_path,), commands), strict=True):
        assert (ran.code, ran.err.count("\n")) == (2, 1), (command, ran)
        assert "mine: raising.guess raised ZeroDivisionError" in ran.err
        assert re.search(CASE, ran.err), ran.err


def test_what_hangs_is_shown_with_the_case(tmp_path: Path) -> None:
    endless = f"{IMPATIENT}\ndef endless():\n{ENDLESS}\n\nRULES = {{"
    hangs = wrong_game("hangs", LEADS, "endless()").replace("RULES = {", endless, 1)
    waits = wrong_game("waits", 'Forced("reveal"): Play(player.secret, share)', "endless(): 7")
    (tmp_path / "hangs.py").write_text(hangs)
    (tmp_path / "waits.py").write_text(waits.replace("RULES = {", endless, 1))
    install(tmp_path, "mine", {"games": ["hangs = hangs:GAME", "waits = waits:GAME"]})
    commands = [("play", name, "--hands", 1, "--json") for name in ("hangs", "waits")]
    judge, player = run((tmp_path,), commands)
    assert (judge.code, player.code) == (2, 2)
    assert "mine: hangs.guess was stopped: guess: not done after 0.3 seconds" in judge.err
    assert re.search(CASE, judge.err), judge.err
    assert "mine: waits.moves was stopped: moves: not done after 0.3 seconds" in player.err
    turn = r"\(Alice's turn at reveal: state \(0x\S+ (1|\(\))\), the last move (1|\(\)), share 0\)"
    assert re.search(turn, player.err), player.err


def test_a_player_that_raises_is_shown_with_its_turn(tmp_path: Path) -> None:
    text = wrong_game("dies", '{Plain("odd"): Play', "{1 // 0: Play")
    (tmp_path / "dies.py").write_text(text)
    install(tmp_path, "mine", {"games": ["dies = dies:GAME"]})
    commands = [("play", "dies", "--hands", 1, "--json"), ("crosscheck", "dies", "--cases", 9)]
    for ran in run((tmp_path,), commands):
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert "mine: dies.moves raised ZeroDivisionError" in ran.err
        turn = r"\(Bob's turn at guess: state 0x\S+, the last move 0x\S+, share 0\)"
        assert re.search(turn, ran.err), ran.err


UNREAD = {
    "far": (LEADS, LEADS.replace("len(move)", "5 + len(move)")),
    "begins": ('Initial("commit", Committing(), 32, 0)', 'Initial("guess", Guessing(b"x"), 32, 0)'),
}


def test_a_state_out_of_its_range_is_reported_where_it_is_made(tmp_path: Path) -> None:
    for name, change in UNREAD.items():
        (tmp_path / f"{name}.py").write_text(wrong_game(name, *change))
    install(tmp_path, "mine", {"games": [f"{name} = {name}:GAME" for name in UNREAD]})
    commands = [("play", name, "--hands", 1, "--json") for name in UNREAD]
    far, begins = run((tmp_path,), commands)
    assert (far.code, begins.code) == (2, 2)
    refused = (
        "the state of reveal that guess leads to is refused by its own reader: guess: not from"
    )
    assert refused in far.err
    assert re.search(r"\(the move (1|\(\)), share 0, at guess: state 0x", far.err), far.err
    assert "begins.initial returned an Initial" in begins.err
    refused = "its state is refused by the reader of guess: commit: not an atom of 32 bytes"
    assert refused in begins.err


def changed_parity(folder: Path, name: str, python: Changes, guess: Changes) -> None:
    """A package with the game of parity under this name, changed in Python and in its guess."""
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    named = (('name="parity"', f'name="{name}"'), ('even_terms("parity"', f'even_terms("{name}"'))
    package = folder / name
    package.mkdir()
    for source in (PARITY / "parity").glob("*.clsp"):
        copy(source, package)
    (package / "__init__.py").write_text(replaced(text, *named, *python))
    program = package / "guess.clsp"
    program.write_text(replaced(program.read_text("utf-8"), *guess))
    install(folder, "mine", {"games": [f"{name} = {name}:GAME"]})


def replaced(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_a_state_that_only_an_odd_move_leads_to_is_a_finding(tmp_path: Path) -> None:
    odd = (
        ('if move not in (b"", b"\\x01"):', "if len(move) > 1:"),
        (LEADS, LEADS.replace("len(move)", "move[0] if move else 0")),
    )
    changed_parity(tmp_path, "wide", odd, ())
    (ran,) = run((tmp_path,), [("crosscheck", "wide", "--cases", 600, "--jobs", 1)])
    assert ran.code == 1
    expected = (
        "griefing: guess: Money stays locked, and nobody gains by it: the rules lead to a state of"
        " reveal that its own reader refuses: guess:"
        " not from 0 to 1"
    )
    assert expected in ran.out


FORGETS = (("(list commit MOVE)", "(list commit ())"),)
"""The program of the guess takes every guess for an even one."""

TWICE = "share = bobs_share(player.secret, guess, player.terms.amount)"
SURE = (TWICE, f"{TWICE} // (len(player.position.move) == guess)")
"""A player that divides by zero in a state that the rules do not lead to."""

LONG = (
    "    if len(move) != 16:",
    "    if len(move) == 17:\n        1 // 0\n    if len(move) != 16:",
)
"""A judge that fails on a move that is a byte too long."""


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ((SURE,), ""),
        ((LONG,), "mine: forgets.reveal raised ZeroDivisionError: integer division or modulo"),
    ],
    ids=["a player in a state that a wrong program makes", "a judge"],
)
def test_a_failure_of_its_author_costs_no_finding(
    python: Changes, said: str, tmp_path: Path
) -> None:
    changed_parity(tmp_path, "forgets", python, FORGETS)
    fuzz = ("fuzz", "forgets", "--work", 600_000, "--jobs", 1, "--out", tmp_path / "out")
    (ran,) = run((tmp_path,), [fuzz])
    assert ran.code == 1
    assert "a legal move leads elsewhere: the state of reveal" in ran.out
    assert list((tmp_path / "out" / "findings").iterdir())
    assert (said in ran.err, ran.err.count("\n")) == (True, bool(said)), ran.err


def test_rules_of_a_file_are_shown_with_the_case(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    raising = BID.replace("    number = atom_to_int(move)\n", "    number = 1 // 0\n")
    case = r"\(the judge of bid: state 0x\S+, move \S+, share 0 of 1000, evidence \(\)\)"
    (tmp_path / "raises").mkdir()
    target = with_rules(tmp_path / "raises", raising)
    ran = channelsim(capsys, "crosscheck", target, "--cases", 9, "--jobs", 1)
    assert (ran.code, ran.out) == (2, "")
    assert re.search(f"ZeroDivisionError: .* {case}", ran.err), ran.err
    (tmp_path / "unread").mkdir()
    unread = BID.replace('"bid": Bidding.read', '"bid": Bidding.read, "reveal": Revealing.read')
    unread += (
        "\ndef reveal(state, move, share, amount, evidence, hashes):\n    return Valid(None)\n"
    )
    target = with_rules(tmp_path / "unread", unread.replace("Integer(1, 10_000)", "Integer(1, 9)"))
    ran = channelsim(capsys, "crosscheck", target, "--cases", 9, "--jobs", 1)
    assert (ran.code, ran.out) == (2, "")
    refused = "the state of its Next is refused by the reader of reveal: number: not from 1 to 9"
    assert refused in ran.err
