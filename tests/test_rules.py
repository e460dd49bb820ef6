"""Every rule has an id, which the Python rules, the programs and the page of rules share."""

from __future__ import annotations

import re
from inspect import getfile
from pathlib import Path

import pytest

from channelsim import clsp, games
from channelsim.channel.protocol.rules import DUTIES
from channelsim.channel.protocol.rules import RULES as CHANNEL_RULES
from channelsim.games import registry
from channelsim.games.contract import Game
from channelsim.games.referee import RULES as REFEREE_RULES
from scripts.tools.rules import chialisp_places, python_places
from tests.paths import ROOT

ID = re.compile(r"\b[A-Z]{2,}(?:-[A-Z]+)?-\d+\b")
IN_COMMENT = re.compile(rf"; ({ID.pattern}(?: {ID.pattern})*)")
PYTHON = Path(games.__file__).parent
CHIALISP = Path(clsp.__file__).parent / "source"
PAGE = ROOT / "docs" / "rules.md"
SPECIFICATION = ROOT / "docs" / "spec"

each_game = pytest.mark.parametrize("game", [registry.get(name) for name in registry.names()])


def ids_in(path: Path, pattern: re.Pattern[str] = ID) -> set[str]:
    found = pattern.findall(path.read_text("utf-8"))
    return {rule for ids in found for rule in ids.split()}


def rules(game: Game, *, terms: bool) -> set[str]:
    return {rule for rule in game.rules if ("-TERMS-" in rule) == terms}


@pytest.mark.parametrize("family", registry.families(), ids=lambda one: one[0].family)
def test_ids_in_the_python_rules(family: tuple[Game, ...]) -> None:
    game = family[0]
    folder, prefix = PYTHON / game.family, next(iter(game.rules)).partition("-")[0]
    judges = registry.validators_of(family).values()
    validators = {Path(getfile(validator.judge)).name for validator in judges}
    for files, terms in ((validators, False), ({"terms.py"}, True)):
        found = set().union(*(ids_in(folder / file) for file in files))
        own = {rule for rule in found if rule.startswith(f"{prefix}-")}
        assert own == set().union(*(rules(one, terms=terms) for one in family))
    specified = set().union(*(ids_in(page) for page in SPECIFICATION.glob("*.md")))
    for source in folder.glob("*.py"):
        assert ids_in(source) <= specified, source.name


@each_game
def test_ids_in_the_chialisp_comments(game: Game) -> None:
    """All of them, each in the program of its own validator."""
    prefix = next(iter(game.rules)).partition("-")[0]
    found: set[str] = set()
    for name in game.validators:
        ids = ids_in(CHIALISP / game.family / f"{name}.clsp", IN_COMMENT)
        own = f"{prefix}-{name.upper().removesuffix('_ROUND')}-"
        assert all(rule.startswith(own) for rule in ids), name
        found |= ids
    assert found == rules(game, terms=False)


def test_the_referees_ids_in_its_program() -> None:
    assert ids_in(CHIALISP / "channel" / "referee.clsp", IN_COMMENT) == set(REFEREE_RULES)


@each_game
def test_every_rule_is_in_the_docs(game: Game) -> None:
    page = ids_in(PAGE)
    assert set(game.rules) | set(REFEREE_RULES) | set(CHANNEL_RULES) <= page


@each_game
def test_the_page_shows_the_code_and_the_vectors_of_every_rule(game: Game) -> None:
    for rule in rules(game, terms=False):
        assert re.search(r"(validators|arranging)\.py:", row(rule)), rule
        assert ".clsp:" in row(rule), rule
        # No vector opens a street with an amount in too many bytes.
        assert bool(row(rule).split(" | ")[-1].strip(" |")) == (rule != "SP-BEGIN-5"), rule
    for rule in rules(game, terms=True):
        assert "terms.py:" in row(rule), rule


def test_the_page_shows_the_code_of_the_referee_and_of_the_channel() -> None:
    for rule in REFEREE_RULES:
        assert "referee.py:" in row(rule) or "referee_paths.py:" in row(rule), rule
        assert "referee.clsp:" in row(rule), rule
    for rule in CHANNEL_RULES:
        assert ".py " in row(rule), rule


@pytest.mark.parametrize("duty", DUTIES)
def test_a_duty_of_ones_own_side_has_its_code_a_monitor_and_a_planted_fault(duty: str) -> None:
    _, _, _, done, monitored, planted, _ = row(duty).split("|")
    assert "channel/peer/" in done
    assert "channel/simulation/promises/" in monitored
    assert planted.strip()


def row(rule: str) -> str:
    (found,) = (
        line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| `{rule}` |")
    )
    return found


def test_a_rule_in_python_is_shown_with_the_innermost_test_around_it(tmp_path: Path) -> None:
    path = tmp_path / "judge.py"
    path.write_text(
        'RULES = {"XY-A-1": "a sentence"}\n'
        "def judge(a):\n"
        '    """Judge by XY-A-1."""\n'
        "    if a:\n"
        "        if a > 1:\n"
        '            return Slash("XY-A-1")\n'
        '        raise BadTerms(f"{a} (XY-A-2)")\n'
        '    return Slash("XY-A-3")\n'
        "    x = 1  # XY-A-4\n",
        "utf-8",
    )
    found = {place.rule: (place.line, place.code, place.function) for place in python_places(path)}
    assert found == {
        "XY-A-1": (5, "if a > 1", "judge"),
        "XY-A-2": (4, "if a", "judge"),
        "XY-A-3": (8, 'return Slash("XY-A-3")', "judge"),
        "XY-A-4": (9, "x = 1", ""),
    }


def test_a_rule_in_chialisp_is_shown_with_the_whole_expression(tmp_path: Path) -> None:
    path = tmp_path / "judge.clsp"
    path.write_text("(rules\n  (= a 1)   ; XY-A-1\n  (>       ; XY-A-2\n    b 2\n  )\n)\n", "utf-8")
    found = {place.rule: place.code for place in chialisp_places(path)}
    assert found == {"XY-A-1": "(= a 1)", "XY-A-2": "(> b 2)"}


@each_game
def test_rules_are_sentences(game: Game) -> None:
    for rule, sentence in game.rules.items():
        assert ID.fullmatch(rule)
        assert sentence.endswith(".")
        assert sentence[0].isupper()
        assert "\n" not in sentence


@each_game
def test_the_parts_of_a_game_go_by_the_same_names(game: Game) -> None:
    assert registry.get(game.name) is game
    assert list(game.programs) == list(game.validators)
    assert all(name == validator.name for name, validator in game.validators.items())
    assert ": " in game.title
