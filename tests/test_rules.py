"""A rule's id stands in the Python rules, in the Chialisp sources, and in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from games import registry
from games.referee import RULES as REFEREE_RULES

ROOT = Path(__file__).parents[1]
IDS = re.compile(r"; ((?:[A-Z]+-)+[0-9]+)")


def ids_in(folder: Path) -> set[str]:
    return {rule for file in folder.rglob("*.cl*") for rule in IDS.findall(file.read_text("utf-8"))}


@pytest.mark.parametrize("name", registry.names())
def test_a_games_rules_stand_in_its_programs_and_in_the_docs(name: str) -> None:
    rules = set(registry.get(name).rules)
    in_programs = ids_in(ROOT / "clsp" / "source" / name)
    # The rules of terms are for proposals, which no program sees.
    assert {rule for rule in rules if "-TERMS-" not in rule} == in_programs
    assert rules <= set(re.findall(r"`([A-Z0-9-]+)`", (ROOT / "docs" / "rules.md").read_text()))


def test_the_referees_rules_stand_in_its_program() -> None:
    in_program = set(IDS.findall((ROOT / "clsp/source/channel/referee.clsp").read_text("utf-8")))
    assert set(REFEREE_RULES) == in_program
