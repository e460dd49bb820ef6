"""Rules that a judge names in its code, however it comes to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from channelsim.channel.lab.mutants import broken_rules
from channelsim.channel.lab.mutants.broken_rules import named_in, named_rules, unread_rules
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from channelsim.games.contract import Slash

RULES = {f"R-{number}": "R-9" for number in range(10)}
CONSTANT = "R-1"
TABLE = {"low": "R-2"}
PREFIX, SIX = "R", 6


def helper() -> Slash:
    return Slash("R-3")


def counted(number: int) -> Slash:
    return Slash(f"{PREFIX}-{number}")


class Checks:
    @staticmethod
    def length() -> Slash:
        return Slash("R-4")


@dataclass
class Judge:
    rule: str

    def __call__(self) -> Slash:
        return Slash(self.rule)


def closed(rule: str) -> Callable[[], Slash]:
    return lambda: Slash(rule)


def default(rule: str = "R-5") -> Slash:
    return Slash(rule)


@pytest.mark.parametrize(
    ("judge", "named"),
    [
        (lambda: Slash("R-0"), {"R-0"}),
        (lambda: [Slash(rule) for rule in ("R-0", "R-6")], {"R-0", "R-6"}),
        (lambda: CONSTANT, {"R-1"}),
        (lambda: TABLE["low"], {"R-2"}),
        (lambda: helper(), {"R-3"}),
        (lambda: Checks.length(), {"R-4"}),
        (Judge("R-7"), {"R-7"}),
        (closed("R-8"), {"R-8"}),
        (partial(closed, "R-8"), {"R-8"}),
        (default, {"R-5"}),
        (lambda: RULES["R-0"], {"R-0"}),
        (lambda: broken_rules.UNIT, set()),
        (lambda: Slash(f"{PREFIX}-0"), {"R-0"}),
        (lambda: Slash(f"{PREFIX}-{SIX}"), {"R-6"}),
        (lambda: Slash(PREFIX + "-0"), {"R-0"}),
        (lambda: [Slash(f"{PREFIX}-0") for _ in range(2)], {"R-0"}),
        (lambda: counted(3), set()),
    ],
)
def test_a_judge_names_its_rules(judge: Any, named: set[str]) -> None:
    assert named_in(judge, set(RULES) - {"R-9"}) == named


@pytest.mark.parametrize("game", ["calpoker", "spacepoker", "five-draw"])
def test_all_rules_of_our_judges_are_named_and_none_of_terms(game: str) -> None:
    target = of_game(registry.get(game))
    rules = named_rules(target)
    left = set(target.game.rules) - set(rules)
    assert left
    assert all("-TERMS-" in rule for rule in left)
    assert set(rules.values()) <= set(target.programs)


@pytest.mark.parametrize("game", ["calpoker", "spacepoker", "five-draw"])
def test_all_rules_of_our_games_are_named_in_some_code(game: str) -> None:
    assert unread_rules(of_game(registry.get(game)), ()) == []
