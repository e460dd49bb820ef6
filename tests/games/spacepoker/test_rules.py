"""Every rule has an id, and each id stands everywhere that the rule does."""

from __future__ import annotations

import re
from pathlib import Path

import clsp
import games.spacepoker
from tests.games.table import GAME

ID = re.compile(r"SP-[A-Z]+-\d+")
PYTHON = Path(games.spacepoker.__file__).parent
CHIALISP = Path(clsp.__file__).parent / "source" / "spacepoker"


def ids_in(text: str) -> set[str]:
    return set(ID.findall(text))


def rules(*, terms: bool) -> set[str]:
    return {rule for rule in GAME.rules if rule.startswith("SP-TERMS") == terms}


def test_ids_in_the_python_rules() -> None:
    assert ids_in((PYTHON / "validators.py").read_text("utf-8")) == rules(terms=False)
    assert ids_in((PYTHON / "terms.py").read_text("utf-8")) == rules(terms=True)


def test_ids_in_the_chialisp_comments() -> None:
    found: set[str] = set()
    for source in CHIALISP.glob("*.clsp"):
        comments = "\n".join(
            line.partition(";")[2] for line in source.read_text("utf-8").splitlines()
        )
        prefix = f"SP-{source.stem.upper().removesuffix('_ROUND')}-"
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
    assert list(GAME.validators) == ["commitA", "commitB", "begin_round", "mid_round", "end"]
    assert set(GAME.programs) == set(GAME.validators)
    assert GAME.name == "spacepoker"
    assert GAME.reveals
    assert GAME.title.startswith("Space Poker: ")
