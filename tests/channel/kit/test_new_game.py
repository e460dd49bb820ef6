"""`channelsim new-game`: a package that works as it was written; and the smallest game, ticks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.kit.new_game import LONGEST, PLACEHOLDER, check_name, write_package
from channelsim.channel.kit.secrets import NOTHING_SHOWN
from tests.channel.command import channelsim
from tests.installed import EXAMPLES, install, run

NAME = "odd_or_even"


def generated(folder: Path) -> Path:
    """A generated package, installed in a folder beside it; that folder."""
    write_package(NAME, folder / "package")
    site = folder / "site"
    install(site, NAME, {"games": [f"{NAME} = {NAME}:GAME"]})
    return site


def test_the_package_is_whole_and_has_only_the_name_of_the_author(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = channelsim(capsys, "new-game", NAME)
    assert (ran.code, ran.err) == (0, "")
    folder = tmp_path / NAME
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {
        *("README.md", "pyproject.toml", ".github/workflows/test.yml", f"tests/test_{NAME}.py"),
        *(f"src/{NAME}/{name}.py" for name in ("__init__", "player", "rules")),
        *(f"src/{NAME}/{name}.clsp" for name in ("answer", "commit", "end", "reveal")),
    }
    assert all(f"{NAME}/{name}" in ran.out for name in files)
    for path in files:
        text = (folder / path).read_text("utf-8")
        assert PLACEHOLDER not in text.lower()
        assert NAME in text.lower() or path.endswith(".yml")
    again = channelsim(capsys, "new-game", NAME)
    assert (again.code, again.out) == (2, "")
    assert again.err == f"channelsim: {NAME}: exists already; name another folder\n"
    assert os.listdir(tmp_path) == [NAME]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "no name of a game"),
        ("Dice", "no name of a game.*; dice is one"),
        ("2dice", "no name of a game.* a letter first$"),
        ("my-dice", "; my_dice is one"),
        ("../dice", "no name of a game"),
        ("würfel", "; wurfel is one"),
        ("JSON", "no name of a game.* a letter first$"),
        ("d" * (LONGEST + 1), "no name of a game"),
        ("lambda", "a keyword of Python"),
        ("spacepoker", "a game of this name is installed"),
        ("json", "a Python package has this name"),
        ("pytest", "a Python package has this name"),
        ("tests", "a Python package has this name"),
        ("channelsim", "a Python package has this name"),
    ],
)
def test_a_bad_name_is_refused_and_leaves_nothing(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=reason):
        write_package(name, tmp_path / "there")
    assert os.listdir(tmp_path) == []


def test_a_good_name_is_taken() -> None:
    for name in ("d", "dice_2", "d" * LONGEST, "match"):
        check_name(name)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "nowhere" / "dice", tmp_path / "file", tmp_path / "file" / "dice"):
        with pytest.raises(UsageError, match=r"cannot be written|exists already"):
            write_package("dice_2", folder)
    assert os.listdir(tmp_path) == ["file"]


def both(folder: Path) -> list[Path]:
    """The generated game and ticks, installed; where they are found."""
    site = generated(folder)
    install(site, "channelsim-ticks", {"games": ["ticks = ticks:GAME"]})
    return [site, folder / "package" / "src", EXAMPLES / "ticks"]


def test_the_generated_game_and_ticks_are_played_and_agree_with_their_programs(
    tmp_path: Path,
) -> None:
    commands: list[tuple[object, ...]] = []
    for name in (NAME, "ticks"):
        commands.append(("play", name, "--hands", 2, "--seed", "s", "--json"))
        commands.append(("crosscheck", name, "--cases", 300, "--jobs", 1, "--json"))
    lie = ("dispute", "run", "hides-wrong", "--game", NAME, "--seed", "s", "--json")
    *ran, lied = run(both(tmp_path), [*commands, lie])
    assert [(one.code, one.err) for one in ran] == [(0, "")] * len(commands)
    assert (lied.code, lied.err) == (0, "")
    assert "GamePaid" in json.loads(lied.out)["news"]
    assert all(json.loads(one.out)["checks"]["python_clvm_agree"] for one in ran[::2])
    assert all(json.loads(one.out)["findings"] == [] for one in ran[1::2])


@pytest.mark.long
def test_a_game_without_programs_conforms_as_far_as_it_goes(tmp_path: Path) -> None:
    paths = both(tmp_path)
    init = tmp_path / "package" / "src" / NAME / "__init__.py"
    lines = [line for line in init.read_text().splitlines() if "programs=" not in line]
    init.write_text("\n".join(lines) + "\n")
    (ran,) = run(paths, [("conform", NAME, "--cases", 300, "--json")])
    assert ran.code == 0
    results = {one["check"]: one for one in json.loads(ran.out)["checks"]}
    unchecked = {name for name, one in results.items() if one["result"] == "not checked"}
    assert unchecked == {
        *("vectors", "rules", "coverage", "every rule is enforced", "proofs", "cost", "secrecy"),
        "disputes",
    }
    assert all("needs a program of commit, answer" in results[name]["why"] for name in unchecked)


@pytest.mark.long
@pytest.mark.parametrize("name", [NAME, "ticks"])
def test_every_command_takes_the_game(name: str, tmp_path: Path) -> None:
    cases, corpus, costs = (tmp_path / one for one in ("cases.jsonl", "corpus", "costs.toml"))
    transcript = tmp_path / "session.jsonl"
    ran = run(
        both(tmp_path),
        [
            ("play", name, "--seed", "s", "--quiet", "--transcript", transcript),
            ("replay", transcript),
            ("vectors", "make", name, "--cases", 200, "-o", cases),
            ("vectors", "check", cases),
            ("trace", cases),
            ("fuzz", name, "--seconds", 20, "--jobs", 2, "--corpus", corpus),
            ("coverage", name, "--corpus", corpus),
            ("cost", name, "--cases", 500, "--write", costs),
            ("cost", name, "--check", costs),
            ("mutants", name, "--seconds", 10, "--jobs", 2),
            ("dispute", "run", "silent@4", "--game", name),
        ],
    )
    assert [(one.code, one.err) for one in ran] == [(0, "")] * len(ran)


@pytest.mark.long
@pytest.mark.parametrize("name", [NAME, "ticks"])
def test_the_tests_of_a_package_pass_as_they_are(name: str, tmp_path: Path) -> None:
    """Rules by example and the whole conformance suite, disputes and coverage in full included."""
    paths = both(tmp_path)
    package = EXAMPLES / "ticks" if name == "ticks" else tmp_path / "package"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", package / "tests"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    excused = ("file of proofs", NOTHING_SHOWN)
    assert all(any(text in line for text in excused) for line in skipped), skipped
