"""The examples of the documents, run as they stand there.

Each page is a session in a folder of its own, from top to bottom:

- a block under a line that begins with a file's name (`` `a.toml`: ``) is written to that file;
- `python` with `>>>` is a doctest, with the names of the blocks before it;
- in `console`, each `$ channelsim …` is run. The lines under it are its output, in which `…` stands
  for anything and white space does not matter. `$ pip install . ./examples/NAME` puts that package
  on the path; the lines that make and activate an environment are left out.

A comment over a block says what differs: `<!-- exit 1 -->` is the exit code, `<!-- long -->` is for
`pytest -m long`, and `<!-- not run: REASON -->`.
"""

from __future__ import annotations

import difflib
import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from tests.markdown import DOCS, Block, blocks, read
from tests.paths import ROOT

FILE = re.compile(r"`([\w./-]+\.\w+)`[^|]*:$")
"""The line over a block that is a file."""

COMMENT = re.compile(r"<!-- (.+) -->$")

INSTALL = "pip install . ./examples/"
ENVIRONMENT = ("python3 -m venv .venv", ". .venv/bin/activate")

TEXT = ("play", "dispute run", "replay")
"""Commands that print JSON where no terminal is; the pages show what a terminal does."""


@dataclass(frozen=True)
class Command:
    """A command of a page, with the output and the exit code that the page shows."""

    line: str
    output: str
    code: int
    long: bool

    @property
    def arguments(self) -> list[str]:
        """The arguments of `channelsim`."""
        _, *given = shlex.split(self.line, comments=True)
        return [*given, "--text"] if " ".join(given).startswith(TEXT) else given


@dataclass(frozen=True)
class File:
    """A file that a page tells its reader to write."""

    name: str
    text: str


def steps(page: Path) -> Iterator[Command | File]:
    """The files and commands of a page, in order."""
    for block in blocks(page):
        named, marked = FILE.match(block.before), COMMENT.match(block.before)
        notes = marked[1] if marked else ""
        if named is not None:
            yield File(named[1], block.text)
        if block.language != "console" or notes.startswith("not run: "):
            continue
        exits = re.search(r"exit (\d+)", notes)
        for lines in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _, output = lines.partition("\n")
            yield Command(line, output, int(exits[1]) if exits else 0, "long" in notes)


def with_commands(long: bool) -> list[Path]:
    """The pages with commands to run."""
    return [
        page
        for page in DOCS
        if any(isinstance(one, Command) and one.long == long for one in steps(page))
    ]


def name(page: Path) -> str:
    """The name of a page in the list of tests."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", with_commands(long=False), ids=name)
def test_the_commands_do_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    try_commands(page, tmp_path, long=False)


@pytest.mark.long
@pytest.mark.parametrize("page", with_commands(long=True), ids=name)
def test_the_long_commands_do_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    try_commands(page, tmp_path, long=True)


def try_commands(page: Path, folder: Path, *, long: bool) -> None:
    """Run the commands of a page in one process, and compare their output."""
    everything = list(steps(page))
    shown = [one for one in everything if isinstance(one, Command)]
    packages = [
        one.line.removeprefix("pip install . ./") for one in shown if one.line.startswith(INSTALL)
    ]
    paths = [path for package in packages for path in install(package, folder)]
    ran = [one for one in shown if one.line.startswith("channelsim ") and (long or not one.long)]
    assert all(
        one.line.startswith((INSTALL, "channelsim ")) or one.line in ENVIRONMENT for one in shown
    )
    copytree(ROOT / "examples", folder / "examples", ignore=ignore_patterns("__pycache__"))
    todo = [
        {one.name: one.text} if isinstance(one, File) else one.arguments
        for one in everything
        if isinstance(one, File) or one in ran
    ]
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "commands.py"],
        input=json.dumps(todo),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "COLUMNS": "80"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.stderr == ""
    for command, result in zip(ran, json.loads(done.stdout), strict=True):
        assert result["code"] == command.code, (command.line, result["err"] or result["out"])
        if command.output.strip():
            assert matches(command.output, result["out"] + result["err"]), (
                f"{command.line}\n{result['out']}{result['err']}"
            )


def install(package: str, folder: Path) -> Sequence[Path]:
    """Paths that have the same effect as installing a package of this repository."""
    source = ROOT / package
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    info = folder / "installed" / f"{project['name'].replace('-', '_')}-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n")
    points = [
        f"[{group}]\n" + "".join(f"{one} = {where}\n" for one, where in named.items())
        for group, named in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("".join(points))
    return folder / "installed", source


def matches(shown: str, output: str) -> bool:
    """True if an output is what a page shows.

    >>> matches("1 case in… s,\\n  none wrong", "1 case in 0.2 s, none wrong\\n")
    True
    >>> matches("1 case", "1 case in 0.2 s"), matches("…in 0.3 s", "1 case in 0.2 s")
    (False, False)
    """
    parts = (re.escape(" ".join(part.split())) for part in shown.split("…"))
    return re.fullmatch(".*?".join(parts), " ".join(output.split())) is not None


def is_doctest(block: Block) -> bool:
    """True if a block is a session of Python."""
    return block.language == "python" and ">>> " in block.text


@pytest.mark.parametrize(
    "page",
    [page for page in DOCS if any(is_doctest(block) for block in blocks(page))],
    ids=name,
)
def test_the_python_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n\n".join(block.text for block in blocks(page) if is_doctest(block))
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


@pytest.mark.parametrize(
    ("page", "game", "languages"),
    [
        ("game.md", "parity", {"python", "chialisp", "toml"}),
        ("hidden.md", "seabattle", {"python", "chialisp"}),
    ],
)
def test_the_code_of_a_chapter_is_that_of_its_game(
    page: str, game: str, languages: set[str]
) -> None:
    suffixes = (".py", ".clsp", ".clinc", ".toml")
    folder = ROOT / "examples" / game
    code = [read(file) for file in folder.rglob("*") if file.suffix in suffixes]
    shown = [
        block
        for block in blocks(ROOT / "docs" / page)
        if block.language in ("python", "chialisp", "toml") and not is_doctest(block)
    ]
    assert {block.language for block in shown} == languages
    assert [block.text for block in shown if not any(block.text in text for text in code)] == []


MISTAKES = ROOT / "docs" / "mistakes.md"
EXAMPLES = ROOT / "examples" / "mistakes"


def test_the_wrong_lines_of_the_mistakes_are_those_of_their_files() -> None:
    shown = [block.text.splitlines() for block in blocks(MISTAKES) if block.language == "diff"]
    assert shown == [changed(wrong) for wrong in shown_files()]


def shown_files() -> list[Path]:
    """The wrong validators, in the order of the page."""
    text = read(MISTAKES)
    files = [file for file in EXAMPLES.rglob("*.clsp") if file.parent.name != "pairs"]
    return sorted(files, key=lambda file: text.index(file.relative_to(ROOT).as_posix()))


def changed(wrong: Path) -> list[str]:
    """The lines in which a wrong validator differs from the right one."""
    before = read(wrong).splitlines()
    after = read(EXAMPLES / "pairs" / wrong.name).splitlines()
    lines = difflib.unified_diff(before, after, n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]
