"""Commands of the documents, also those that take too long to be run: they can be pasted.

Each `channelsim` command exists and has the options that the page gives it; each script is there.
The long tests paste the first commands of the README into a shell, in a new environment.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from channelsim.channel.cli.app import commands
from tests.markdown import DOCS, blocks
from tests.paths import ROOT
from tests.test_docs_examples import Command, File, steps

OTHERS = {"dask", "pip", "pytest", "python", "python3", ".", "cd"}
"""Programs that a reader has, besides ours."""

README = ROOT / "README.md"


def lines(page: Path) -> Iterator[list[str]]:
    """The words of each command in the consoles of a page."""
    for block in blocks(page):
        if block.language == "console":
            text = block.text.replace("\\\n", " ")
            for line in re.findall(r"^\$ (.+)$", text, re.M):
                yield shlex.split(line.partition(" | ")[0].partition(" > ")[0], comments=True)


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_command_can_be_pasted(page: Path) -> None:
    for words in lines(page):
        words = [word for word in words if not re.match(r"\w+=", word)]
        program, *arguments = words
        if program == "channelsim":
            check(arguments)
        elif "/" in program and not program.startswith(".venv"):
            assert os.access(ROOT / program, os.X_OK), program
        else:
            assert program in OTHERS or program.startswith(".venv/bin/"), program


def check(arguments: list[str]) -> None:
    """The command of these arguments exists, with their options."""
    known = commands.commands
    command = None
    while arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
        assert name in known, name
        command = known[name]
        if not hasattr(command, "commands"):
            break
        known = command.commands
    if command is None:
        return
    options = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    given = {word.partition("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
    assert given <= options, f"{command.name}: {given - options}"


@pytest.mark.long
def test_the_first_commands_of_the_readme_work_when_pasted(tmp_path: Path) -> None:
    left_out = ignore_patterns(".git", ".venv", "build", "__pycache__", ".*_cache")
    clone = copytree(ROOT, tmp_path / "clone", symlinks=True, ignore=left_out)
    pasted = []
    for step in steps(README):
        if isinstance(step, File):
            (clone / step.name).write_text(step.text, "utf-8")
        else:
            pasted.append(step)
            if step.line.startswith("channelsim "):
                break
    assert [type(step) for step in pasted] == [Command] * 4
    own = ("PYTHON", "VIRTUAL_ENV", "CHANNELSIM")
    ran = subprocess.run(
        ["bash", "-c", "set -e\n" + "\n".join(step.line for step in pasted)],
        cwd=clone,
        env={name: value for name, value in os.environ.items() if not name.startswith(own)},
        capture_output=True,
        text=True,
        check=False,
    )
    if "No matching distribution" in ran.stderr:
        pytest.skip("no package index can be reached")
    assert ran.returncode == pasted[-1].code, ran.stderr
    assert "unslashable cheat: reveal" in ran.stdout
