"""Functions of plug-ins that return something of the wrong kind: one line that names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from channelsim.games import answers
from channelsim.games.contract import Next, Raise, RawState, Slash, Valid
from tests.channel.cli.test_plugins import PARITY, without_programs
from tests.installed import install, run

HIDDEN = (
    'hidden=(__import__("channelsim.games.hidden", fromlist=["Hidden"])'
    '.Hidden("coin", {}, lambda chance, coin: coin),)'
)

WRONG = {
    "moves_bytes": ("Play(int_to_atom(1), 0)", 'b"1"', "moves returned a bytes, b'1': not a Play"),
    "moves_none": (
        *("    match player.position.state:\n", "    return None\n    match 1:\n"),
        "moves returned None: not a dictionary of plays by choice",
    ),
    "moves_empty": (
        *("    match player.position.state:\n", "    return {}\n    match 1:\n"),
        "moves returned a dict, {}: no choice of a player in its turn, commit",
    ),
    "arguments": (
        *("entropy[:16], moves)", "entropy[:16], lambda: {})"),
        "<lambda> cannot be called: player.<locals>.<lambda>() takes 0 positional arguments",
    ),
    "evidence": (
        *("entropy[:16], moves)", "entropy[:16], moves, lambda *_: (5,))"),
        "<lambda> returned a tuple, (5,): ",
    ),
    "share": (
        "Play(player.secret, share)",
        "Play(player.secret, 0.5)",
        "a Play has bytes, a share",
    ),
    "verdict": ('Slash("PARITY-COMMIT-1")', "False", ""),
    "judge": (
        "    return Valid(None)\n",
        "    return True\n",
        "reveal returned a bool, True: not a",
    ),
    "unknown": (
        *("    return Valid(None)\n", '    return Slash("PARITY-REVEAL-9")\n'),
        "the game's rules have no sentence for 'PARITY-REVEAL-9'",
    ),
    "state": ("Guessing(move)", "move", "its state has no method `value`"),
    "leads": ('Next("guess"', 'Next("chess"', "its next validator 'chess' is none of commit"),
    "agreed": (
        *('return even_terms("parity", parameters, "PARITY-TERMS-1")', "return 7"),
        "terms returned an int, 7: not Terms",
    ),
    "copied": (
        *('even_terms("parity", ', 'even_terms("chess", '),
        "the terms of another game than 'copied'",
    ),
    "begun": (
        'return Initial("commit", Committing(), 32, 0)',
        "return 7",
        "initial returned an int",
    ),
    "nobody": (
        "return PlainPlayer(seat, terms, initial(terms).position, entropy[:16], moves)",
        *("return 7", "player returned an int, 7: not a player: it has no choices"),
    ),
    "shown": (
        *("    entropy_size=16,\n", "    entropy_size=16,\n    summary=lambda *_: 5,\n"),
        "<lambda> returned an int, 5: not a dictionary",
    ),
    "hides": (
        "    entropy_size=16,\n",
        f"    entropy_size=16,\n    {HIDDEN.format('lambda chance: 7')},\n",
        "<lambda> returned an int, 7: not bytes (the hidden value coin of the game hides)",
    ),
    "hides_nothing": (
        "    entropy_size=16,\n",
        f"    entropy_size=16,\n    {HIDDEN.format('lambda chance: 1 // 0')},\n",
        "<lambda> raised ZeroDivisionError",
    ),
    "expects_three": (
        "    entropy_size=16,\n",
        f"    entropy_size=16,\n    {HIDDEN.format('lambda chance: chance.bytes(1)')},\n",
        "player cannot be called: player() takes 3 positional arguments but 4 were given",
    ),
    "remembers": (
        "Play(sha256(player.secret).digest(), 0)",
        "Play(sha256(player.secret).digest(), 0, memory=bytes(5000))",
        "the memory of a Play is at most 4,096 bytes",
    ),
}
"""A change of the smallest game by its name, and a part of the line about it."""

OTHERS = """
from channelsim.channel.adversaries.base import Adversary, adversary, changes_message
from channelsim.channel.lab.laws import Needs
from channelsim.games.contract import Action

@changes_message("says-text", "sends a text")
def says_text(one, message, blob):
    return ["no bytes"]

@adversary("ends-oddly", "answers with a number after a block")
class EndsOddly(Adversary):
    def last(self):
        return 7

class Law:
    name, every, needs = "no finding", 1, Needs.NOTHING
    def check(self, trial):
        return [7]

LAW = Law()

def cheats(player, chance):
    return Action("all-in")

def idle(player, chance):
    return None
"""


ODD = """
from dataclasses import replace
from verdict import GAME as GUESSING
from channelsim.games.contract import Action, even_terms

GAME = replace(
    GUESSING,
    name="odd",
    terms=lambda parameters: even_terms("odd", parameters, "PARITY-TERMS-1"),
    policies={"odd": lambda player, chance: Action("odd")},
)
"""
"""A policy that knows nothing of the moves at which nothing is chosen."""


def wrong_game(name: str, old: str, new: str) -> str:
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    assert text.count(old) == 1
    return without_programs(text.replace(old, new), name)


def test_a_wrong_answer_of_a_game_is_one_line(tmp_path: Path) -> None:
    for name, (old, new, _) in WRONG.items():
        (tmp_path / f"{name}.py").write_text(wrong_game(name, old, new))
    install(tmp_path, "mine", {"games": [f"{name} = {name}:GAME" for name in WRONG]})
    commands = [("play", name, "--hands", 2, "--seed", "x", "--json") for name in WRONG]
    ran = dict(zip(WRONG, run((tmp_path,), commands), strict=True))
    assert ran.pop("verdict").code == 0  # the wrong answer is to a move that nobody makes
    for name, one in ran.items():
        assert (one.code, one.out, one.err.count("\n")) == (2, "", 1), (name, one)
        assert f"channelsim: mine: {name}." in one.err, one.err
        assert WRONG[name][-1] in one.err


def test_what_a_plug_in_prints_is_in_no_document(tmp_path: Path) -> None:
    text = wrong_game(
        "prints", "    match player.position.state:\n", "    print('seen')\n    match 1:\n"
    )
    (tmp_path / "prints.py").write_text(text.replace("match 1:", "match player.position.state:"))
    install(tmp_path, "mine", {"games": ["prints = prints:GAME"]})
    (ran,) = run((tmp_path,), [("play", "prints", "--hands", 1, "--seed", "x", "--json")])
    assert ran.code == 0
    assert json.loads(ran.out)["hands"]
    assert "seen" in ran.err


def test_a_state_that_its_own_reader_refuses_is_named(tmp_path: Path) -> None:
    """Rules and programs agree on it, so that no comparison finds it."""
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    old = "    guess: Annotated[int, Integer(0, 1)]"
    assert text.count(old) == 1
    text = text.replace(old, "    guess: Annotated[int, Integer(0, 0)]")
    (tmp_path / "unread.py").write_text(without_programs(text, "unread"))
    install(tmp_path, "mine", {"games": ["unread = unread:GAME"]})
    (ran,) = run((tmp_path,), [("crosscheck", "unread", "--cases", 50, "--jobs", 1)])
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "guess leads to is refused by its own reader: guess: not from 0 to 0" in ran.err


FORMS = {
    "returns_list": (
        "bytes, lambda value, name: []",
        "returned a list, []: a field of a state has to be",
    ),
    "writes_number": ("lambda guess: guess, lambda value, name: value", "not a CLVM value"),
    "divides": ("bytes, lambda value, name: 1 // 0", "ZeroDivisionError"),
}
"""Forms written by hand, and a part of the line about each."""


def test_a_form_written_by_hand_is_named(tmp_path: Path) -> None:
    head, old = "RULES = {", "Annotated[int, Integer(0, 1)]"
    for name, (form, _) in FORMS.items():
        text = wrong_game(name, old, "ODD").replace(
            head,
            f"from channelsim.games.contract import Opaque\n"
            f"ODD = Annotated[int, Opaque({form})]\n{head}",
        )
        (tmp_path / f"{name}.py").write_text(text)
    install(tmp_path, "mine", {"games": [f"{name} = {name}:GAME" for name in FORMS]})
    commands = [("crosscheck", name, "--cases", 50, "--jobs", 1) for name in FORMS]
    for name, ran in zip(FORMS, run((tmp_path,), commands), strict=True):
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), (name, ran)
        assert f"{name}." in ran.err, ran.err
        assert FORMS[name][-1] in ran.err


def test_a_wrong_answer_is_named_in_the_lab_too(tmp_path: Path) -> None:
    names = ("verdict", "unknown")
    illegal = ("Play(player.secret, share)", "Play(player.secret[:3], share)")
    (tmp_path / "illegal.py").write_text(wrong_game("illegal", *illegal))
    for name in names:
        (tmp_path / f"{name}.py").write_text(wrong_game(name, *WRONG[name][:2]))
    (tmp_path / "odd.py").write_text(ODD)
    (tmp_path / "others.py").write_text(OTHERS)
    policies = [f"calpoker:{name} = others:{name}" for name in ("cheats", "idle")]
    games = [f"{name} = {name}:GAME" for name in (*names, "odd", "illegal")]
    install(tmp_path, "mine", {"games": games})
    install(tmp_path, "policies", {"policies": policies})
    install(tmp_path, "others", {"adversaries": ["says-text = others", "ends-oddly = others"]})
    vectors = ("vectors", "make", "verdict", "--cases", 200, "-o", tmp_path / "cases.jsonl")
    commands: list[tuple[object, ...]] = [
        vectors,
        ("play", "illegal", "--hands", 1, "--json"),
        ("crosscheck", "illegal", "--cases", 1, "--jobs", 1, "--json"),
        ("play", "odd", "--hands", 1, "--json"),
        ("crosscheck", "odd", "--cases", 1, "--jobs", 1, "--json"),
        ("fuzz", "unknown", "--seconds", 1, "--jobs", 1),
        ("play", "calpoker", "--hands", 1, "--policy", "cheats", "--json"),
        ("play", "calpoker", "--hands", 1, "--policy", "idle", "--json"),
        ("dispute", "run", "says-text", "--game", "calpoker", "--at", 3, "--json"),
        ("dispute", "run", "ends-oddly", "--game", "calpoker", "--at", 3, "--json"),
    ]
    made, *own, odd, odds, fuzzed, cheats, idle, dispute, odd_end = run((tmp_path,), commands)
    assert (odd.code, odds.code) == (0, 0), odds
    for one in (made, *own, fuzzed, cheats, idle, dispute, odd_end):
        assert (one.code, one.out, one.err.count("\n")) == (2, "", 1), one
    for one in own:
        assert "the game illegal: its player's own move at reveal breaks PARITY-REVEAL-1" in one.err
    assert "mine: verdict.commit returned a bool, False: not a Valid" in made.err
    assert "mine: unknown.reveal returned a Slash" in fuzzed.err
    assert "others.cheats returned an Action" in cheats.err
    assert "cannot all-in now; possible: " in cheats.err
    assert "others.idle returned None: not an Action (policy calpoker:idle at " in idle.err
    assert "the last move 0x" in idle.err
    assert "others.says-text returned a list, ['no bytes']: not a list of messages" in dispute.err
    assert "others.EndsOddly returned an int, 7: not a list of effects" in odd_end.err


def test_findings_of_a_law_are_checked(tmp_path: Path) -> None:
    (tmp_path / "others.py").write_text(OTHERS)
    install(tmp_path, "others", {"laws": ["no-finding = others:LAW"]})
    command = ("crosscheck", "calpoker", "--cases", 60, "--jobs", 2, "--json")
    (one,) = run((tmp_path,), [command])
    assert (one.code, one.out) == (2, "")
    assert "others: others.Law.check returned an int, 7: not a finding" in one.err


@pytest.mark.parametrize(
    ("verdict", "problem"),
    [
        (Valid(None), ""),
        (Slash("R-1"), ""),
        (Raise("R-2"), "no sentence for 'R-2'"),
        (Valid(Next("a", RawState((b"1", b"")), 3)), ""),
        (Valid(Next("a", RawState(b""), -1)), "max_move_size"),
        (Valid(None, (b"\x31",), "R-1"), ""),
        (Valid(None, (b"\x31",)), "no sentence for ''"),
        ("slash", "not a Valid, a Slash or a Raise"),
    ],
)
def test_problems_of_a_verdict(verdict: object, problem: str) -> None:
    said = answers.verdict_problem(verdict, {"a": None}, {"R-1": "A rule."})
    assert problem in said
    assert bool(problem) == bool(said)
