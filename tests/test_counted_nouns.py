"""No message says "1 mojos": a count and its noun are joined by `games.amounts.counted`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

NOUNS = (
    *("action", "adversary", "argument", "atom", "batch", "block", "branch", "bundle", "byte"),
    *("card", "case", "cause", "coin", "cycle", "digit", "disagreement", "exception", "fault"),
    *("file", "finding", "function", "game", "hand", "key", "line", "message", "minute", "mojo"),
    *("mutant", "node", "operator", "pair", "path", "program", "promise", "record"),
    *("reorganisation", "run", "second", "seed", "spend", "stake", "state", "step", "time"),
    *("unit", "validator"),
)
"""What the product counts. (Not moves: "Alice moves" is a sentence, too.)"""

PLURALS = re.compile(
    r" (?:\w+ )?(?:" + "|".join(re.sub("y$", "ie", noun) + "e?s" for noun in NOUNS) + r")\b"
)


def counts(text: str) -> Iterator[int]:
    """The lines of a source on which a value that could be 1 stands before a plural.

    A constant, in capitals, is never 1.
    """
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            match value, after:
                case ast.FormattedValue(ast.Name(name)), _ if name.isupper():
                    continue
                case ast.FormattedValue(), ast.Constant(str(said)) if PLURALS.match(said):
                    yield node.lineno


@pytest.mark.parametrize("layer", ["games", "channel"])
def test_a_count_and_its_noun_agree(layer: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / layer).rglob("*.py"))
        for line in counts(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_fixed_plural_would_be_found() -> None:
    wrong = ('f"{n} mojos"', 'f"{n:,} runs, {m} of {k}"', 'f"after {a.b} more causes"')
    for text in wrong:
        assert list(counts(text)) == [1], text
    right = ('f"{n} mojo"', 'f"{LIMIT} bytes"', 'f"{n} passed"', "f\"{counted(n, 'mojo')} paid\"")
    for text in right:
        assert list(counts(text)) == [], text
