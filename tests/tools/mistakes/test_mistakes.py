"""The list of mistakes, and the command that searches for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from scripts.tools.mistakes import listed
from scripts.tools.mistakes.listed import Mistake, mistakes
from tests.paths import ROOT
from tests.sampling import one_in

LISTED = mistakes()

# Compiles each mistake beside the right programs; the examples are plug-ins of a new process only.
_COMPILE = """
import json, sys
from scripts.tools.mistakes.examples import available
with available():
    from channelsim.channel.lab.targets.loading import load
    from scripts.tools.mistakes.listed import mistakes
    from scripts.tools.mistakes.planting import program_of
    differ = {}
    for mistake in mistakes()[int(sys.argv[1]) :: int(sys.argv[2])]:
        game = load(mistake.game)
        assert set(mistake.places) <= set(game.programs), mistake.id
        right = game.programs[mistake.validator]
        assert program_of(mistake.game, mistake.validator) == right, mistake.id
        differ[mistake.id] = program_of(mistake.game, mistake.validator, mistake) != right
    print(json.dumps(differ))
"""

# The calls of a plug-in's package are bounded: the tool itself must not be in one.
_BOUND = """
from scripts.tools.mistakes.examples import available
with available():
    from channelsim import watchdog
    from channelsim.channel.lab.targets.loading import load
    from scripts.tools.mistakes import command
    from scripts.tools.mistakes.listed import mistakes
    for game in sorted({mistake.game for mistake in mistakes()}):
        load(game)
    import raffle
    assert watchdog.is_authors(raffle.__file__)
    assert not watchdog.is_authors(command.__file__)
"""

PARTS = 30
"""The parts of the list whose programs are compiled, a test each."""


def _run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.long
def test_a_search_may_take_longer_than_a_call_of_a_plug_in() -> None:
    assert _run("-c", _BOUND).stderr == ""


def test_there_are_enough_mistakes_with_ids_of_their_own() -> None:
    assert len(LISTED) >= 40
    assert len({mistake.id for mistake in LISTED}) == len(LISTED)
    assert sum(mistake.rare for mistake in LISTED) >= 10


@pytest.mark.parametrize("mistake", LISTED, ids=lambda mistake: mistake.id)
def test_a_patch_matches_once(mistake: Mistake) -> None:
    assert mistake.changed() != mistake.path.read_text("utf-8")


@pytest.mark.parametrize("old", ["no such text", "("])
def test_a_patch_that_does_not_match_once_is_refused(old: str) -> None:
    wrong = Mistake("x", "parity", "guess", LISTED[0].file, "money", "", old, "")
    with pytest.raises(UsageError, match=r"x: its old text occurs \d+ times"):
        wrong.changed()


def test_an_id_used_twice_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = ['id = "x"', 'game = "g"', 'validator = "v"', 'file = "f"', 'kind = "money"']
    lines += ['gain = ""', 'old = "a"', 'new = "b"']
    table = "\n".join(["[[mistake]]", *lines, ""])
    (tmp_path / "examples" / "g").mkdir(parents=True)
    (tmp_path / "examples" / "g" / "mistakes.toml").write_text(table + table)
    monkeypatch.setattr(listed, "ROOT", tmp_path)
    with pytest.raises(UsageError, match="x: the id of 2 mistakes"):
        mistakes()


def test_rare_mistakes_are_as_rare_as_they_say() -> None:
    for mistake in LISTED:
        if mistake.measured is not None:
            assert mistake.rare, mistake.id
            assert mistake.measured.differing <= mistake.measured.cases * 1e-5, mistake.id


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_all_mistakes_compile_to_other_programs(part: int) -> None:
    ran = _run("-c", _COMPILE, part, PARTS)
    assert ran.returncode == 0, ran.stderr
    differ = json.loads(ran.stdout)
    assert set(differ) == {mistake.id for mistake in LISTED[part::PARTS]}
    assert [name for name, differs in differ.items() if not differs] == []


def test_the_command_finds_an_easy_mistake(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    asked = ("--only", "parity-share-reversed", "--budget", 10, "--json", out)
    ran = _run("-m", "scripts.tools.mistakes", *asked)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "with rules: found 1 of 1" in ran.stdout
    assert "without: found 1 of 1" in ran.stdout
    results = json.loads(out.read_text())["searches"]
    assert [result["place"] for result in results] == ["reveal", "reveal"]
    again = _run("-m", "scripts.tools.mistakes", *asked)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "found 1 of 1" in again.stdout
    assert "of the processor" not in again.stdout  # it searched for nothing
    other = _run("-m", "scripts.tools.mistakes", *asked, "--seed", "other")
    assert other.returncode == 2
    assert "results with another seed" in other.stderr


@pytest.mark.long
def test_the_command_says_what_it_did_not_find() -> None:
    # Without rules, nothing tells that two ticks of one are too many.
    asked = ("--only", "ticks-two-of-one", "--without-rules", "--budget", 0.1)
    ran = _run("-m", "scripts.tools.mistakes", *asked)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "not found: ticks-two-of-one" in ran.stdout


@pytest.mark.long
def test_the_command_counts_rates_and_searches_right_programs() -> None:
    rate = _run(
        "-m", "scripts.tools.mistakes", "--rate", "--only", "parity-share-reversed", "--runs", 1
    )
    assert rate.returncode == 0, rate.stderr
    assert "measured = {cases = 4096, differing = " in rate.stdout
    assert "differing = 0}" not in rate.stdout
    right = _run("-m", "scripts.tools.mistakes", "--correct", "--game", "ticks", "--runs", 500)
    assert right.returncode == 0, right.stdout + right.stderr
    said = " ".join(right.stdout.split())
    assert said.count("0 findings; cases dropped as unreached: ") == 2


def test_an_unknown_id_is_refused() -> None:
    ran = _run("-m", "scripts.tools.mistakes", "--only", "nothing")
    assert ran.returncode == 2
    assert "nothing: no mistake has this id" in ran.stderr
