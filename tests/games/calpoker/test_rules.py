"""Every rule has an id, and each id stands everywhere that the rule does."""

from __future__ import annotations

import re
from pathlib import Path

import clsp
import games.calpoker
from tests.games.calpoker.cal import GAME

ID = re.compile(r"CP-[A-Z]+-\d+")
PYTHON = Path(games.calpoker.__file__).parent
CHIALISP = Path(clsp.__file__).parent / "source" / "calpoker"


def ids_in(text: str) -> set[str]:
    return set(ID.findall(text))


def rules(*, terms: bool) -> set[str]:
    return {rule for rule in GAME.rules if rule.startswith("CP-TERMS") == terms}


def test_ids_in_the_python_rules() -> None:
    assert ids_in((PYTHON / "validators.py").read_text("utf-8")) == rules(terms=False)
    assert ids_in((PYTHON / "terms.py").read_text("utf-8")) == rules(terms=True)


def test_ids_in_the_chialisp_comments() -> None:
    found: set[str] = set()
    for source in CHIALISP.glob("*.clsp"):
        comments = "\n".join(
            line.partition(";")[2] for line in source.read_text("utf-8").splitlines()
        )
        prefix = f"CP-{source.stem.upper()}-"
        assert all(rule.startswith(prefix) for rule in ids_in(comments)), source.name
        found |= ids_in(comments)
    assert found == rules(terms=False)


def test_no_unknown_id_anywhere() -> None:
    for source in PYTHON.glob("*.py"):
        assert ids_in(source.read_text("utf-8")) <= set(GAME.rules), source.name


def test_rules_are_sentences() -> None:
    for rule, sentence in GAME.rules.items():
        assert ID.fullmatch(rule)
        assert sentence.endswith(".")
        assert sentence[0].isupper()
        assert "\n" not in sentence


def test_the_parts_go_by_the_same_names() -> None:
    assert list(GAME.validators) == ["a", "b", "c", "d", "e"]
    assert set(GAME.programs) == set(GAME.validators)
    assert GAME.name == "calpoker"
    assert GAME.reveals
    assert GAME.entropy_size == 32
    assert GAME.title.startswith("California Poker: ")
