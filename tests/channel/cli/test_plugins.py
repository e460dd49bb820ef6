"""Plug-ins of other packages: games in every command, and plug-ins that are wrong in every way."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from channelsim.channel.adversaries import registry
from tests.installed import EXAMPLES, install, run
from tests.paths import ROOT

PARITY = EXAMPLES / "parity"

WRONG = """
def fail():
    raise RuntimeError("no\\nluck")
{}
"""

CHANGED = """
from dataclasses import replace
from parity import GAME

GUESS = {"x": GAME.validators["guess"]}
SWAPPED = replace(GAME, name="swapped", validators=GUESS, programs={})
IDLE = replace(GAME, name="idle", policies={})
IDLE = replace(GAME, name="idle", policies={})
RULELESS = replace(GAME, name="ruleless", rules=None)
TEXT = replace(GAME, name="text", programs={"guess": b"1"})

def stray():
    return replace(GAME, name="stray", programs={"none": b"1"})
"""

OTHERS = """
from channelsim.channel.adversaries.base import adversary, changes_message, MessageChanger
from channelsim.channel.lab.laws import Needs

@changes_message("mute-once", "leaves out one message")
def mute(one, message, blob):
    return []

@adversary("deaf", "leaves out one message, by a class")
class Deaf(MessageChanger):
    def change(self, message, blob):
        return []

class Law:
    name, every, needs = "hands are played", 128, Needs.NOTHING
    def check(self, trial):
        trial.tally.tried[self.name] += 1
        yield from ()

LAW = Law()

def folds(player, chance):
    raise ZeroDivisionError("not yet")

def first(player, chance):
    from channelsim.games.choices import least_action
    return least_action(player.choices()[0])

def markdown(document):
    return f"# {document['target']}: {document['cases']} cases"

def number(document):
    return 7
"""


def test_a_game_of_another_package_is_in_every_command(tmp_path: Path) -> None:
    install(tmp_path, "parity-game", {"games": ["parity = parity:GAME"]})
    session, cases, finding = (tmp_path / name for name in ("s.jsonl", "c.jsonl", "c.toml"))
    disputed = tmp_path / "d.jsonl"
    few = ("--seed", "x", "--jobs", 1, "--json")
    commands: list[tuple[object, ...]] = [
        ("games",),
        ("play", "parity", "--hands", 2, "--seed", "x", "--json", "--transcript", session),
        ("replay", session),
        ("vectors", "make", "parity", "--cases", 60, "-o", cases),
        ("vectors", "check", cases),
        ("trace", cases),
        ("crosscheck", "parity", "--cases", 400, *few),
        ("cost", "parity", "--cases", 30, "--write", finding),
        ("mutants", "parity", "--validator", "commit", "--seconds", 0.2, "--jobs", 1, "--json"),
        ("dispute", "run", "silent", "--game", "parity", "--json", "--transcript", disputed),
        ("replay", disputed),
    ]
    ran = run((tmp_path, PARITY), commands)
    assert [(one.code, one.err) for one in ran] == [(0, "")] * len(commands)
    games, play, _, _, checked, trace, crosscheck, cost, mutants, dispute, again = ran
    assert "parity" in games.out
    document = json.loads(play.out)
    assert [hand["game"] for hand in document["hands"]] == ["parity"] * 2
    assert all(sum(hand["payouts"].values()) == hand["amount"] for hand in document["hands"])
    checks = {"moves_checked": 6, "python_clvm_agree": True, "conserved": True}
    assert document["checks"] == checks
    assert "60 passed, 0 failed" in checked.out
    assert "parity, commit" in trace.out
    assert json.loads(crosscheck.out)["cases"] == 400
    assert "reveal slash" in cost.out
    assert json.loads(mutants.out)["total"]["killed"] > 0
    # A hand is over before the adversary's usual step: it deviates inside of it.
    deviated = json.loads(dispute.out)
    assert deviated["deviated"]
    (action,) = deviated["scenario"]["actions"]
    assert action["at"] < 8
    assert json.loads(again.out) == deviated


@pytest.mark.long
def test_a_campaign_does_not_go_on_with_another_plug_in(tmp_path: Path) -> None:
    package, folder = tmp_path / "code", tmp_path / "campaign"
    shutil.copytree(PARITY, package)
    install(tmp_path, "parity-game", {"games": ["parity = parity:GAME"]})
    install(tmp_path, "broken", {"laws": ["a = no module", "b = ..:x", "c = gone:x"]})
    few = ("crosscheck", "parity", "--cases", 40, "--jobs", 1, "--json", "--out", folder)
    (begun, same) = run((tmp_path, package), [few, (*few, "--resume")])
    assert (begun.code, same.code) == (0, 0)
    with (package / "parity" / "__init__.py").open("a") as file:
        file.write("# changed\n")
    (changed,) = run((tmp_path, package), [(*few, "--resume")])
    assert changed.code == 2
    assert re.search(r"not the campaign in .*: the plug-in parity-game '1\.0, SHA", changed.err)


@pytest.mark.long
def test_a_game_of_another_package_is_fuzzed_and_covered(tmp_path: Path) -> None:
    install(tmp_path, "parity-game", {"games": ["parity = parity:GAME"]})
    corpus = tmp_path / "corpus"
    commands: list[tuple[object, ...]] = [
        ("fuzz", "parity", "--seconds", 5, "--jobs", 1, "--corpus", corpus, "--json"),
        ("coverage", "parity", "--corpus", corpus, "--json"),
    ]
    fuzz, coverage = run((tmp_path, PARITY), commands)
    assert (fuzz.code, coverage.code) == (0, 0), coverage.err
    assert set(json.loads(fuzz.out)["coverage"]) == {"commit", "guess", "reveal", "referee"}
    programs = json.loads(coverage.out)["programs"]
    assert programs["reveal"]["nodes"] == programs["reveal"]["nodes_reached"] > 0


@pytest.mark.long
def test_one_of_our_games_works_from_a_package_of_its_own(tmp_path: Path) -> None:
    package = tmp_path / "californian"
    shutil.copytree(ROOT / "games" / "calpoker", package, ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copytree(ROOT / "clsp" / "source" / "calpoker", package / "clsp")
    for file in package.glob("*.py"):
        text = file.read_text("utf-8").replace("channelsim.games.calpoker", "californian")
        file.write_text(text.replace('NAME = "calpoker"', 'NAME = "californian"'), "utf-8")
    game = package / "game.py"
    head, _, tail = game.read_text("utf-8").partition("GAME = Game(")
    compiled = 'compile_programs(Path(__file__).parent / "clsp", VALIDATORS)'
    game.write_text(
        f"{head}from pathlib import Path\n"
        "from channelsim.clsp.compiler import compile_programs\n"
        f"GAME = Game(programs={compiled},{tail}"
    )
    install(tmp_path, "californian", {"games": ["californian = californian:GAME"]})
    cases = tmp_path / "cases.jsonl"
    few = ("--seed", "x", "--jobs", 1, "--json")
    commands: list[tuple[object, ...]] = [
        ("play", "californian", "--hands", 1, "--seed", "x", "--json"),
        ("vectors", "make", "californian", "--cases", 40, "-o", cases),
        ("vectors", "check", cases),
        ("trace", cases),
        ("crosscheck", "californian", "--cases", 100, *few),
        ("mutants", "californian", "--validator", "b", "--seconds", 1, "--jobs", 1, "--json"),
        ("dispute", "run", "silent@3", "--game", "californian", "--json"),
    ]
    ran = run((tmp_path,), commands)
    assert [(one.code, one.err) for one in ran] == [(0, "")] * len(commands)
    assert json.loads(ran[0].out)["checks"]["python_clvm_agree"]
    assert json.loads(ran[5].out)["total"]["killed"] > 0


def test_a_game_that_is_one_module_and_one_whose_programs_disagree(tmp_path: Path) -> None:
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    sources = tmp_path / "wrong"
    shutil.copytree(PARITY / "parity", sources)
    guess = sources / "guess.clsp"
    guess.write_text(guess.read_text().replace("(= MOVE (logand 1 MOVE))", "1"))
    for name, folder in (("solo", PARITY / "parity"), ("wrong_solo", sources)):
        own = text.replace("Path(__file__).parent", f"Path({str(folder)!r})")
        (tmp_path / f"{name}.py").write_text(own.replace('"parity"', f'"{name}"'))
    install(
        tmp_path, "two", {"games": [f"{name} = {name}:GAME" for name in ("solo", "wrong_solo")]}
    )
    cases = tmp_path / "cases.jsonl"
    mutants, wrong, crosscheck = run(
        (tmp_path,),
        [
            ("mutants", "solo", "--validator", "guess", "--seconds", 0.2, "--jobs", 1, "--json"),
            ("vectors", "make", "wrong_solo", "-o", cases),
            ("crosscheck", "wrong_solo", "--cases", 100, "--jobs", 1),
        ],
    )
    assert (mutants.code, mutants.err) == (0, "")
    assert wrong.code == 1
    assert json.loads(wrong.out)["validator"] == "guess"
    assert json.loads(wrong.out)["id"] in wrong.err
    assert "program: expected slash, got valid" in wrong.err
    assert wrong.err.count("\n") == 1
    assert not cases.exists()
    assert crosscheck.code == 1
    assert "source: wrong/guess.clsp:" in crosscheck.out


def without_programs(text: str, name: str, programs: str = "") -> str:
    """The Python file of the smallest game under another name, with other programs."""
    lines = [
        f"    programs={{{programs}}}," if line.startswith("    programs=") else line
        for line in text.replace('"parity"', f'"{name}"').splitlines()
    ]
    return "\n".join(lines)


def test_a_game_may_begin_without_programs(tmp_path: Path) -> None:
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    (tmp_path / "bare.py").write_text(without_programs(text, "bare"))
    first = "compile_programs(Path({!r}), VALIDATORS)".format(str(PARITY / "parity"))
    half = f"'reveal': {first}['reveal']"
    (tmp_path / "half.py").write_text(without_programs(text, "half", half))
    install(tmp_path, "bare", {"games": ["bare = bare:GAME", "half = half:GAME"]})
    cases = tmp_path / "cases.jsonl"
    few = ("--cases", 400, "--seed", "x", "--jobs", 1)
    commands: list[tuple[object, ...]] = [
        ("play", "bare", "--hands", 1, "--seed", "x", "--json"),
        ("play", "bare", "--hands", 1, "--seed", "x", "--text"),
        ("crosscheck", "bare", *few, "--json"),
        ("crosscheck", "bare", *few),
        ("vectors", "make", "bare", "--cases", 30, "-o", cases),
        ("vectors", "check", cases),
        ("crosscheck", "half", *few, "--json"),
        ("mutants", "bare"),
        ("dispute", "run", "silent", "--game", "bare"),
        ("trace", cases),
        ("games",),
    ]
    ran = run((tmp_path,), commands)
    assert [one.code for one in ran] == [0] * 7 + [2] * 3 + [0]
    play, text_, checked, lines, _, vectors, half_, mutants, dispute, trace, games = ran
    assert json.loads(play.out)["checks"] == {
        "moves_checked": 0,
        "python_clvm_agree": None,
        "conserved": True,
        "moves_by_rules": 3,
    }
    assert "3 moves judged by the rules alone" in text_.out
    assert "rules and programs agree" not in text_.out
    document = json.loads(checked.out)
    assert (document["cases"], document["outcomes"]) == (0, {})
    assert set(document["tried"]) == {"shares", "progress", "withholding"}
    assert document["unchecked"]["verdicts agree"] == "no program of commit, guess, reveal"
    assert "no program of commit, guess, reveal: not checked there: verdicts agree" in lines.out
    assert "checked by the rules alone\n30 passed, 0 failed" in vectors.out
    document = json.loads(half_.out)
    assert set(document["outcomes"]) == {"reveal"}
    assert document["unchecked"]["verdicts agree"] == "no program of commit, guess"
    assert document["tried"]["verdicts agree"] == document["cases"] > 0
    for one in (mutants, dispute, trace):
        assert (one.out, one.err.count("\n")) == ("", 1)
        assert "has no program of commit" in one.err
    assert "no program: commit, guess, reveal" in games.out


@pytest.mark.long
def test_a_game_that_lacks_programs_is_fuzzed_and_conforms_as_far_as_it_can(tmp_path: Path) -> None:
    text = (PARITY / "parity" / "__init__.py").read_text("utf-8")
    (tmp_path / "bare.py").write_text(without_programs(text, "bare"))
    # Bob leaves everything to Alice with the guess, so that she never reveals a lost hand.
    wrong = text.replace("Play(int_to_atom(1), 0)", "Play(int_to_atom(1), player.terms.amount)")
    (tmp_path / "wrong.py").write_text(without_programs(wrong, "wrong"))
    reveal = "compile_programs(Path({!r}), VALIDATORS)['reveal']".format(str(PARITY / "parity"))
    (tmp_path / "half.py").write_text(without_programs(text, "half", f"'reveal': {reveal}"))
    games = [f"{name} = {name}:GAME" for name in ("bare", "wrong", "half")]
    install(tmp_path, "games", {"games": games})
    corpus = tmp_path / "corpus"
    short = ("--seconds", 0.3, "--jobs", 1)
    checks = ("--cases", 64, *short, "--json")
    fuzz, wrong_, half, coverage, none, owes = run(
        (tmp_path,),
        [
            ("fuzz", "bare", *short),
            ("fuzz", "wrong", *short, "--json"),
            ("fuzz", "half", *short, "--json", "--corpus", corpus),
            ("coverage", "half", "--corpus", corpus, "--json"),
            ("coverage", "bare", "--corpus", corpus),
            ("conform", "half", *checks),
        ],
    )
    assert (fuzz.code, fuzz.err) == (0, "")
    assert "no program of commit, guess, reveal: not checked there: verdicts agree" in fuzz.out
    assert "tried by the rules alone: shares" in fuzz.out
    assert wrong_.code == 1
    (found,) = json.loads(wrong_.out)["findings"]
    assert (found["rule"], found["severity"]) == ("withholding", "theft")
    assert (found["brun"], found["compared"]) == ({}, [])
    assert half.code == 0
    assert set(json.loads(half.out)["coverage"]) == {"reveal", "referee"}
    assert json.loads(half.out)["unchecked"]["verdicts agree"] == "no program of commit, guess"
    assert coverage.code == 0
    assert json.loads(coverage.out)["programs"]["reveal"]["cases"] > 0
    assert (none.code, none.out, none.err) == (2, "", "channelsim: bare has no programs\n")
    assert owes.code == 0, owes.out
    rows = json.loads(owes.out)["checks"]
    left = {one["check"]: one["why"] for one in rows if one["result"] == "not checked"}
    assert left.pop("proofs").startswith("no file of proofs; `channelsim prove ")
    assert left == dict.fromkeys(
        ("cost", "secrecy", "disputes"), "needs a program of commit, guess"
    )
    assert all("not those of commit, guess" in one["tried"] for one in rows[:2])
    again, trace = run(
        (tmp_path,),
        [(command, found["replay"].split()[-1]) for command in ("replay", "trace")],
    )
    assert again.code == 1
    assert "it still happens" in again.out
    assert (trace.code, trace.err.count("\n")) == (2, 1)
    assert "wrong has no program of" in trace.err


def test_a_wrong_plugin_is_named_and_harms_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(WRONG.format("print('not for a document')\nfail()"))
    (tmp_path / "exits.py").write_text("raise SystemExit(0)")
    (tmp_path / "syntax.py").write_text("\ndef (")
    (tmp_path / "wrong.py").write_text("GAME = 'x'")
    (tmp_path / "changed.py").write_text(CHANGED)
    (tmp_path / "stray.py").write_text("from changed import stray\nGAME = stray()\n")
    own = [f"{name} = changed:{name.upper()}" for name in ("swapped", "ruleless", "idle", "text")]
    install(tmp_path, "changed", {"games": [*own, "stray = stray:GAME"]})
    install(tmp_path, "aimless", {"policies": ["random = wrong:GAME", "chess:e4 = wrong:GAME"]})
    install(tmp_path, "raises", {"games": ["raises = raises:GAME"]})
    install(tmp_path, "exits", {"games": ["exits = exits:GAME"]})
    install(tmp_path, "syntax", {"games": ["syntax = syntax:GAME"]})
    points = ["typed = wrong:GAME", "lacks = wrong:NONE", "no-module = none:GAME"]
    install(tmp_path, "wrong", {"games": [*points, "renamed = parity:GAME"]})
    install(tmp_path, "one", {"games": ["two = parity:GAME", "calpoker = parity:GAME"]})
    install(tmp_path, "other", {"games": ["two = parity:GAME"], "gamez": ["three = parity:GAME"]})
    corrupt = install(tmp_path, "corrupt", {})
    (corrupt / "entry_points.txt").write_bytes(b"\xff")
    reasons = {
        "raises": f"a plug-in of raises, cannot be used: RuntimeError: no luck ({tmp_path}/raises"
        ".py, line 3)",
        "exits": f"a plug-in of exits, cannot be used: SystemExit: 0 ({tmp_path}/exits.py, line 1)",
        "syntax": f"SyntaxError: invalid syntax ({tmp_path}/syntax.py, line 2)",
        "typed": "it is a str, not a channelsim.games.contract.Game",
        "lacks": "AttributeError: module 'wrong' has no attribute 'NONE'",
        "no-module": "No module named 'none'",
        "renamed": "its game is called 'parity'",
        "swapped": "its validator x is called a str, 'guess' in itself",
        "idle": "not a dictionary of at least one function by name",
        "ruleless": "not a dictionary of sentences by rule id",
        "text": "not a dictionary of Program by validator",
        "stray": "ValueError: no validator is called 'none'",
        "two": "one and other have one of this name; uninstall one, or set CHANNELSIM_NO_PLUGINS=1",
        "calpoker": "channelsim and one have one of this name",
    }
    commands: list[tuple[object, ...]] = [
        ("play", "spacepoker", "--hands", 1, "--seed", "x", "--quiet"),
        *(("crosscheck", name) for name in reasons),
        ("games",),
        ("play", "two"),
    ]
    playing, *asked, listing, two = run((tmp_path, PARITY), commands)
    corrupt_, stray = sorted(playing.err.splitlines())
    assert playing.code == 0
    named = "channelsim: the plug-ins of corrupt cannot be read: UnicodeDecodeError"
    assert corrupt_.startswith(named)
    assert "three, a plug-in of other, cannot be used: 'channelsim.gamez' is none of" in stray
    for (name, reason), ran in zip(reasons.items(), asked, strict=True):
        said = ran.err.splitlines()
        assert (ran.code, ran.out) == (2, ""), name
        assert [line for line in said if f"the game {name}" in line and reason in line], ran.err
        # What is printed while importing does not get into a document.
        assert ("not for a document" in ran.err) == (name == "raises")
    assert listing.code == 0
    assert "calpoker" in listing.out
    assert sum(line.startswith("channelsim: the game ") for line in listing.err.splitlines()) == 14
    assert "the policy random, a plug-in of aimless, cannot be used: its name" in listing.err
    assert "no game is called 'chess'" in listing.err
    assert (two.code, two.err.count(reasons["two"])) == (2, 1)


def test_plugins_are_turned_off(tmp_path: Path) -> None:
    install(tmp_path, "parity-game", {"games": ["parity = parity:GAME", "bad = none:GAME"]})
    commands = [("games",), ("play", "parity")]
    games, play = run((tmp_path, PARITY), commands, CHANNELSIM_NO_PLUGINS="1")
    assert (games.code, games.err) == (0, "")
    assert "parity" not in games.out
    assert (play.code, play.err.count("\n")) == (2, 1)
    assert "CHANNELSIM_NO_PLUGINS" in play.err


def test_adversaries_laws_policies_and_reports_are_plugins_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OTHERS)
    install(
        tmp_path,
        "mine",
        {
            "adversaries": ["mute-once = mine", "deaf = mine", "silent = mine", "none = mine"],
            "laws": ["hands-are-played = mine:LAW", "other = mine:LAW", "no-law = mine:first"],
            "policies": [
                *("calpoker:first = mine:first", "calpoker:folds = mine:folds"),
                *("calpoker:random = mine:first", "calpoker:bad = mine:none", "chess:x = mine:x"),
            ],
            "reports": ["markdown = mine:markdown", "number = mine:number"],
        },
    )
    document = tmp_path / "document.json"
    document.write_text('{"target": "toy", "cases": 3}')
    campaign = tmp_path / "campaign"
    dispute = ("--game", "calpoker", "--at", 3, "--seed", "x", "--json")
    play = ("play", "calpoker", "--hands", 1, "--seed", "x", "--quiet", "--policy")
    commands: list[tuple[object, ...]] = [
        ("dispute", "run", "mute-once", *dispute),
        ("dispute", "run", "deaf", *dispute),
        ("dispute", "run", "none"),
        (*play, "first"),
        (*play, "folds"),
        (*play, "bad"),
        (*play, "random"),
        ("crosscheck", "calpoker", "--cases", 60, "--jobs", 1, "--json", "--out", campaign),
        ("report", document, "markdown"),
        ("report", campaign, "markdown"),
        ("report", document, "number"),
        ("report", document, "markdwn"),
    ]
    ran = run((tmp_path,), commands)
    assert [one.code for one in ran] == [0, 0, 2, 0, 2, 2, 0, 0, 0, 0, 2, 2]
    mute, deaf, none, first, folds, bad, random, crosscheck, markdown, done, number, unknown = ran
    assert json.loads(mute.out)["deviated"]
    assert json.loads(deaf.out)["deviated"]
    assert "its module registers no adversary of this name" in none.err
    assert "the adversary silent: channelsim and mine have one of this name" in none.err
    assert first.out
    assert re.search(rf"ZeroDivisionError: not yet \({tmp_path}/mine.py, line \d+\)", folds.err)
    assert "the policy calpoker:bad, a plug-in of mine, cannot be used" in bad.err
    assert "the policy calpoker:random: channelsim and mine have one of this name" in random.err
    assert json.loads(crosscheck.out)["tried"]["hands are played"] > 0
    assert "the law other, a plug-in of mine, cannot be used" in crosscheck.err
    assert "the law no-law, a plug-in of mine, cannot be used: it is no law" in crosscheck.err
    assert (markdown.out, done.out) == ("# toy: 3 cases\n", "# calpoker: 60 cases\n")
    assert "mine: mine.number returned an int, 7: not text" in number.err
    assert "did you mean markdown?" in unknown.err


@pytest.mark.parametrize("name", ["silent", "breaks-ch-settle-2"])
def test_our_own_adversaries_need_no_entry_point(name: str) -> None:
    assert name in registry.names()
