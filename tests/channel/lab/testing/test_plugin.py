"""The pytest plug-in, in suites of its own: the example of docs/author.md, and plain suites."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copytree

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.testing.checking import stored_cases
from channelsim.clsp.programs import SOURCE
from tests.channel.lab.toys import toy
from tests.channel.written_findings import written
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "author.md").read_text("utf-8").partition("## A test suite")[2]
MISTAKE = ("(= (popcount MOVE) 4)", "(> (popcount MOVE) 3)")


def block(kind: str, number: int = 0) -> str:
    found: list[str] = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return found[number]


def counted(text: str) -> str:
    """A text without what depends on how often a law is tried, and without pytest's margin."""
    return re.sub(r"[\d,]+ (findings|times)", r"N \1", text.replace("\nE       ", "\n"))


def suite(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest there, with our plug-in and no other, warnings being errors."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "CI": "true",  # Hypothesis then draws the same each time, however busy the machine is
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "channelsim.channel.lab.testing.plugin",
        "-W",
        "error",
        "-q",
    ]
    return subprocess.run(
        [*command, "--strict-markers", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def example(tmp_path: Path) -> Path:
    copytree(SOURCE, tmp_path / "onchain")
    (tmp_path / "target.toml").write_text(block("toml"), "utf-8")
    (tmp_path / "pytest.ini").write_text(block("ini"), "utf-8")
    (tmp_path / "test_my_validators.py").write_text(block("python"), "utf-8")
    (tmp_path / "found.jsonl").write_text(block("json"), "utf-8")
    return tmp_path


@pytest.mark.long
def test_the_example_passes(example: Path) -> None:
    ran = suite(example)
    assert ran.returncode == 0, ran.stdout
    assert "6 passed" in ran.stdout


@pytest.mark.long
def test_the_example_finds_the_mistake(example: Path) -> None:
    source = example / "onchain" / "calpoker" / "d.clsp"
    text = source.read_text("utf-8")
    assert MISTAKE[0] in text
    assert all(part in PAGE for part in MISTAKE)
    source.write_text(text.replace(*MISTAKE), "utf-8")
    ran = suite(example)
    assert ran.returncode == 1
    said = counted(ran.stdout)
    for line in counted(block("text")).splitlines():
        assert line in said
    # What is drawn is Hypothesis's affair; what it is, is not.
    assert re.search(r"Draw 1: <d: 0x\w\w, declaring 0 of 2 mojos .*: forbidden by CP-D-2>", said)
    assert re.fullmatch(r"<d: 0x\w\w, .*: forbidden by CP-D-2>", block("text", 1).strip())
    assert "the case five-cards (discards) does not hold:" in said
    assert "3 failed, 3 passed" in said
    # The bytes of programs and how we came there are nobody's help.
    assert "\\xff" not in said
    assert "checking.py" not in said


SHARE = "(if (= MOVER_SHARE (- AMOUNT offer)) (list 0 0 0) ())"


def test_the_small_game_passes_and_its_theft_is_found(tmp_path: Path) -> None:
    for number, name in enumerate(("offer.clsp", "answer.clsp")):
        (tmp_path / name).write_text(block("clsp", number), "utf-8")
    (tmp_path / "target.toml").write_text(block("toml", 1), "utf-8")
    (tmp_path / "honest.jsonl").write_text(block("json", 1), "utf-8")
    (tmp_path / "test_ultimatum.py").write_text(block("python", 1), "utf-8")
    (tmp_path / "pytest.ini").write_text(block("ini"), "utf-8")
    ran = suite(tmp_path)
    assert (ran.returncode, "4 passed" in ran.stdout) == (0, True), ran.stdout
    answer = tmp_path / "answer.clsp"
    assert SHARE in answer.read_text("utf-8")
    answer.write_text(answer.read_text("utf-8").replace(SHARE, "(list 0 0 0)"), "utf-8")
    ran = suite(tmp_path)
    assert ran.returncode == 1
    assert counted(block("text", 2)) in counted(ran.stdout)
    assert "1 failed, 3 passed" in ran.stdout


@pytest.mark.long
def test_the_option_names_the_target_too(example: Path) -> None:
    (example / "pytest.ini").write_text("[pytest]\n", "utf-8")
    ran = suite(example, "--channelsim-target", "target.toml", "-k", "five_validators")
    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout
    ran = suite(example, "--channelsim-target", "calpoker", "-k", "five_validators or shares")
    assert (ran.returncode, "2 passed" in ran.stdout) == (0, True), ran.stdout


def test_the_target_of_the_ini_file_is_beside_it(example: Path) -> None:
    inner = example / "inner"
    inner.mkdir()
    (inner / "test_one.py").write_text("def test(target):\n    assert len(target.programs) == 5\n")
    ran = suite(inner)
    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout


PLAIN = """
import sys

def test_nothing_of_ours_is_loaded(pytestconfig):
    loaded = {name for name in sys.modules if name.split(".")[0] == "channelsim"}
    lab = "channelsim.channel.lab"
    above = {"channelsim", "channelsim.channel", lab}
    assert loaded == {*above, f"{lab}.testing", f"{lab}.testing.plugin"}, loaded
    assert not {"chia_rs", "msgspec", "rich"} & set(sys.modules)
    assert not pytestconfig.pluginmanager.has_plugin("channelsim-fixtures")
"""


def test_a_suite_that_names_no_target_sees_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(PLAIN)
    ran = suite(tmp_path)
    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout
    ran = suite(tmp_path, "--fixtures")
    assert "channel" not in ran.stdout
    assert "channelsim" not in suite(tmp_path, "--markers").stdout
    (tmp_path / "test_plain.py").write_text("def test(target):\n    pass\n")
    assert "fixture 'target' not found" in suite(tmp_path).stdout


USES = """
import pytest

def test_law(lab):
    lab.law("no such law")

@pytest.mark.channelsim_cases("CASES")
def test_case(lab, case):
    lab.case(case)
"""


@pytest.mark.long
def test_wrong_use_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test(target):\n    pass\n")
    ran = suite(tmp_path, "--channelsim-target", "gone.toml")
    assert ran.returncode == 1
    assert "gone.toml: cannot be read (No such file or directory)" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert "def load" not in ran.stdout
    (tmp_path / "test_it.py").unlink()
    bad = {
        "gone": (None, "cannot be read"),
        "empty": ("", "has no cases"),
        "null": (written(), "has no cases"),
        "brace": ("{", "the JSON ends early, at line 1, column 2: "),
        "short": (written(vector={"id": 1}), "line 1: "),
    }
    for name, (text, _) in bad.items():
        (tmp_path / f"test_{name}.py").write_text(USES.replace("CASES", f"{name}.jsonl"))
        if text is not None:
            (tmp_path / f"{name}.jsonl").write_text(text)
    ran = suite(tmp_path, "--channelsim-target", "calpoker")
    assert ran.returncode != 0
    for name, (_, said) in bad.items():
        assert f"{name}.jsonl: {said}" in ran.stdout + ran.stderr
        (tmp_path / f"test_{name}.py").unlink()
    (tmp_path / "test_it.py").write_text(USES.replace("CASES", "cases.jsonl"))
    cases = tmp_path / "cases.jsonl"
    (case,) = block("json").splitlines()
    shown = json.loads(case)
    cases.write_text(f"{written(vector=shown)}\n{written()}\n{case}\n")
    ran = suite(tmp_path, "--channelsim-target", "calpoker")
    assert "1 failed, 2 passed" in ran.stdout
    assert "no law is called 'no such law'; calpoker can be held to: " in ran.stdout
    cases.write_text(json.dumps(json.loads(written(vector=shown)), indent=2))
    assert "1 failed, 1 passed" in suite(tmp_path, "--channelsim-target", "calpoker").stdout


def test_pytest_finds_the_plug_in_once_it_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {
        "channelsim": "channelsim.channel.lab.testing.plugin"
    }
    extras = project["optional-dependencies"]
    named = {re.split(r"[><=]", one)[0] for one in extras["lab"]}
    assert named == {"pytest", "hypothesis"}
    assert set(extras["lab"]) <= set(extras["test"])
    assert not any(name in one for one in project["dependencies"] for name in named)


def test_a_folder_of_findings_is_all_of_its_cases(tmp_path: Path) -> None:
    (case,) = block("json").splitlines()
    folder = tmp_path / "findings"
    folder.mkdir()
    assert stored_cases(folder) == []  # nothing was found yet
    (folder / "b.json").write_text(written(vector=json.loads(case)))
    (folder / "a.jsonl").write_text(f"{case}\n{case}\n")
    (folder / "none.json").write_text(written())
    (folder / "notes.txt").write_text("no case")
    assert [one.id for one in stored_cases(folder)] == ["five-cards"] * 3
    (folder / "c.json").write_text("[1]")
    with pytest.raises(UsageError, match=r"c\.json: line 1: "):
        stored_cases(folder)


TOY_SUITE = """
def test_all(lab):
    lab.crosscheck(cases=2000)

def test_each(lab, laws):
    for law in laws:
        lab.law(law, cases=600)

def test_rules(rules):
    pass

def test_law_of_rules(lab):
    lab.law("verdicts agree")
"""


@pytest.mark.long
def test_a_target_without_rules_is_held_to_what_its_honest_play_says(tmp_path: Path) -> None:
    path = toy(tmp_path)
    (tmp_path / "test_toy.py").write_text(TOY_SUITE)
    ran = suite(tmp_path, "--channelsim-target", path.name)
    assert "1 failed, 2 passed, 1 error" in ran.stdout
    assert "the law 'verdicts agree' needs rules of some validator, " in ran.stdout
    assert "names no rules of a game that plays every move" in ran.stdout
    broken = tmp_path / "broken"
    broken.mkdir()
    path = toy(broken, "shares are bound")
    (broken / "test_toy.py").write_text(TOY_SUITE)
    ran = suite(broken, "--channelsim-target", path.name, "-k", "each")
    assert "tries of the law 'shares are bound'" in ran.stdout
