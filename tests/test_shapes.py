"""One fact has one shape: no two types with the same fields, one place for each format of files."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from channelsim.channel.documents.document_files import formats
from tests.paths import ROOT

SHARE = 0.7
"""Two types with so great a part of their fields in common are two shapes of one fact."""

LEAST = 4
"""Types with fewer fields are not compared: three names are in common by chance."""

STATES = "states of one game have the fields that its program gives them"
SECOND = "peers and their stores: the second half of this work"

JUSTIFIED = {
    frozenset(("BeginRound", "MidRound")): STATES,
    frozenset(("Begin", "Draw")): STATES,
    frozenset(("Draw", "Show")): STATES,
    frozenset(("End", "Score")): STATES,
    frozenset(("Commit", "Rows")): STATES,
    frozenset(("Commit", "Score")): STATES,
    frozenset(("Rows", "Score")): STATES,
    frozenset(("Leading", "Following")): STATES,
    frozenset(("Street", "Round")): "a state's street has amounts, the rules' round has none",
    frozenset(("CalPokerPlayer", "PokerPlayer")): "players of games that share no rules",
    frozenset(("Initial", "Start")): "a typed state, and an author's plain data",
    frozenset(("Initial", "_Coin")): "a typed state, and a CLVM value",
    frozenset(("Start", "_Coin")): "an author's plain data, and the CLVM value that it is",
    frozenset(("SizeReport", "PartResult")): "with values and parts of programs, and as it travels",
    frozenset(("DeckSecrets", "Secrets")): "scalars to compute with, and hex in a file of vectors",
    frozenset(("FinishedDeck", "DeckRecord")): SECOND,
    frozenset(("GameSettled", "GameEnded")): SECOND,
    frozenset(("ChannelState", "LedgerState")): "the second model shares no code with the first",
    frozenset(("ConformOptions", "Effort")): "what the command line declares, and what it comes to",
    frozenset(("DisputesDocument", "SweepTotals")): "what a sweep prints, and counts as it goes",
    frozenset(("ObeysRules", "StaysTrue")): "two claims about the rules of one validator",
}
"""Pairs of types that may have the same fields, and why."""

PRODUCT = ("clsp", "games", "channel", "scripts/tools")

FORMAT = re.compile(r"channelsim [a-z][a-z -]*[a-z] [0-9]+")


@cache
def trees() -> dict[Path, ast.Module]:
    return {
        path: ast.parse(path.read_text("utf-8"))
        for layer in PRODUCT
        for path in sorted((ROOT / layer).rglob("*.py"))
        if "template" not in path.parts
    }


def fields(node: ast.ClassDef) -> frozenset[str]:
    """The fields that a class declares itself; those of its bases stand there."""
    return frozenset(
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and not ast.unparse(item.annotation).startswith("ClassVar")
    )


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    smaller, larger = sorted((len(one), len(other)))
    return smaller >= LEAST and len(one & other) >= SHARE * larger


def pairs_alike() -> Iterator[tuple[frozenset[str], str]]:
    declared = [
        (path, node.name, fields(node))
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and len(fields(node)) >= LEAST
    ]
    for (path, name, mine), (other_path, other, theirs) in combinations(declared, 2):
        if alike(mine, theirs):
            where = f"{path.relative_to(ROOT)}: {name}, {other_path.relative_to(ROOT)}: {other}"
            yield frozenset((name, other)), where


def test_no_two_types_share_their_fields() -> None:
    every = list(pairs_alike())
    assert [where for names, where in every if names not in JUSTIFIED] == []
    unused = set(JUSTIFIED) - {names for names, _ in every}
    assert unused == set(), "these exceptions are no longer needed"


def test_types_with_most_fields_in_common_are_noticed() -> None:
    assert alike(frozenset("abcde"), frozenset("abcdf"))
    assert not alike(frozenset("abcde"), frozenset("abcfg"))
    assert not alike(frozenset("abc"), frozenset("abc"))


def test_each_format_is_named_in_one_file() -> None:
    named: defaultdict[str, set[Path]] = defaultdict(set)
    for path, tree in trees().items():
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            match node:
                case ast.Constant(str(text)) if id(node) not in docstrings:
                    for found in FORMAT.findall(text):
                        named[found].add(path)
    assert len(named) > 10
    assert {name: paths for name, paths in named.items() if len(paths) > 1} == {}


DOCUMENTS = frozenset(kind.__name__ for kind in formats().values())


def called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def test_each_document_has_one_reader_and_one_writer() -> None:
    """It is constructed by its command, and decoded by its `format` in one place; findings too."""
    writers: Counter[str] = Counter()
    readers: defaultdict[str, set[str]] = defaultdict(set)
    read = {*DOCUMENTS, "kind", "Finding"}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = called(node)
            if name in DOCUMENTS and path.name != "document_files.py":
                writers[name] += 1
            if name in ("decode", "convert", "Decoder"):
                for part in ast.walk(node):
                    if isinstance(part, ast.Name) and part.id in read:
                        readers[part.id].add(path.name)
            if name == "file_name" and path.parent.name != "findings":
                readers["names of findings"].add(path.name)
    assert writers == dict.fromkeys(DOCUMENTS, 1)
    assert readers.pop("Finding") == {"finding_files.py"}
    # Each type of document is the `kind` there that its `format` names.
    assert not DOCUMENTS & readers.keys()
    assert "document_files.py" in readers["kind"]
