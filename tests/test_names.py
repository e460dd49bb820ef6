"""Names are the field's: old private words do not come back as names of modules or definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.cli.app import commands
from tests.paths import ROOT

WORDS = {
    *("told", "telling", "kept", "purse", "court", "harm", "harms", "book", "spot", "spots"),
    "asker",
}
"""Words that no name has as a part."""

ALONE = {
    *("past", "ends", "where", "made", "memory", "post", "course", "look", "drafts", "guided"),
}
"""Words that are no whole name: they do not say what the thing is."""


def words(name: str) -> list[str]:
    """The words of a name.

    >>> words("_toldTwice_by_Peer")
    ['told', 'twice', 'by', 'peer']
    """
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def refused(name: str) -> bool:
    found = words(name)
    return bool(WORDS & set(found)) or (len(found) == 1 and found[0] in ALONE)


def names(path: Path) -> Iterator[str]:
    """The module's name, and the public classes and functions that it defines."""
    yield path.parent.name if path.stem == "__init__" else path.stem
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name


@pytest.mark.parametrize("layer", ["clsp", "games", "channel"])
def test_names_are_those_of_the_field(layer: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / layer).rglob("*.py"))
        for name in names(path)
        if refused(name)
    ]
    assert found == []


def test_names_in_the_docs_are_those_of_the_field() -> None:
    for file in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        code = re.findall(r"`([A-Za-z_][\w./]*)`", text)
        found = [name for name in code if WORDS & set(words(name))]
        assert found == [], file.name


def test_commands_and_options_have_no_old_names() -> None:
    def walk(tree: Mapping[str, Any]) -> Iterator[str]:
        for name, command in tree.items():
            yield name
            yield from (str(one.name) for one in command.params)
            yield from walk(getattr(command, "commands", {}))

    assert [name for name in walk(commands.commands) if refused(name)] == []


def test_an_old_name_would_be_found() -> None:
    for name in ("told", "Told", "what_is_kept", "Look", "HARM", "where", "in_court"):
        assert refused(name), name
    for name in ("looks_like_code", "bookmark", "where_clause", "threshold", "harmony", "unmade"):
        assert not refused(name), name
