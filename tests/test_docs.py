from __future__ import annotations

import json
import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from channelsim.channel.cli.app import commands
from channelsim.channel.report.narrator import Narrator
from channelsim.channel.report.rules import page
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.setup import (
    DEFAULT_STACK,
    DEFAULT_STAKES,
    DEFAULT_UNIT,
    Setup,
    check,
)
from channelsim.channel.session.transcript import Recorder
from tests.channel.command import channelsim
from tests.paths import ROOT

DOCS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def test_the_page_of_rules_is_the_codes() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert text == page(), "run `python -m channelsim.channel.report.rules > docs/rules.md`"


def test_links_in_the_readme_lead_somewhere() -> None:
    for file in DOCS:
        text = file.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (file.parent / target).exists(), f"{file.name}: {target}"


PATH = re.compile(r"`((?:channel|games|clsp|tests|docs|scripts)/[\w./-]+)`")
"""Files and folders of this project, as the documents write them."""


@pytest.mark.parametrize("file", DOCS, ids=lambda file: str(file.name))
def test_files_that_the_docs_name_are_there(file: Path) -> None:
    missing = [
        name
        for name in PATH.findall(file.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    assert missing == []


def test_the_map_has_every_package() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    for package in (ROOT / "channel").glob("*/__init__.py"):
        assert f"`channel/{package.parent.name}`" in text
    for room in (ROOT / "channel" / "lab").glob("*/__init__.py"):
        assert f"`{room.parent.name}`" in text


def test_the_readme_lists_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, command in commands.commands.items():
        inside = getattr(command, "commands", {None: command})
        for one in inside:
            assert f"| `channelsim {name} {one or ''}".rstrip() in text


def test_the_glossary_explains_each_term_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"\*\*(.+?)\*\*", text)
    assert len(terms) > 50
    assert len(set(terms)) == len(terms)


def test_the_session_in_the_readme_is_the_one_played() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"\$ channelsim (play .* --policy .*)\n((?:.|\n)*?)```", text)
    assert found is not None
    command, session = found.groups()
    _, game, *options = shlex.split(command)
    named = dict(zip(options[::2], options[1::2], strict=True))
    initiator, receiver = named["--policy"].split(",")
    setup = check(
        Setup(
            games=(game,),
            seed=named["--seed"],
            hands=int(named["--hands"]),
            unit=DEFAULT_UNIT,
            stack=DEFAULT_STACK,
            balance=DEFAULT_UNIT * DEFAULT_STACK * DEFAULT_STAKES,
            policies=(initiator, receiver),
        )
    )
    out = StringIO()
    console = Console(file=out, width=80, no_color=True, highlight=False)
    narrator, deciders = Narrator(setup, console), Deciders(setup)
    recorder = Recorder(setup, lambda line: None)
    result = Session(setup, deciders.decide, deciders.answer, [recorder, narrator]).run()
    narrator.finish(result, recorder.finish(result))
    assert out.getvalue() == session


def test_the_script_in_the_docs_can_be_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "scripts.md").read_text(encoding="utf-8")
    found = re.search(r"```toml\n((?:.|\n)*?)```", text)
    assert found is not None
    file = tmp_path / "script.toml"
    file.write_text(found.group(1), encoding="utf-8")
    ran = channelsim(capsys, "play", "spacepoker", "--script", file)
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert len(document["hands"]) == 1  # the second is declined
    done = [(a["player"], a["verb"], a["amount"]) for a in document["hands"][0]["actions"]]
    assert ("receiver", "raise", 200) in done  # a bet, after a check


def test_the_scripts_pass_their_arguments_on() -> None:
    """A sourced file sees the arguments of its script, and must not read any."""
    assert not re.search(r"\$[@*1-9]|\$\{[@*1-9]", (ROOT / "scripts" / "env.sh").read_text())
    for name in ("demo", "test"):
        text = (ROOT / "scripts" / name).read_text(encoding="utf-8")
        assert "\n. scripts/env.sh\n" in text
        assert '"$@"' in text
