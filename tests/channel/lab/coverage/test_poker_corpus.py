"""The stored corpus of the poker programs: verdicts agree, and every place is reached or explained.

All poker games share their programs, so that only together they reach all of them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.coverage import corpus
from channelsim.channel.lab.coverage.corpus import case_entry
from channelsim.channel.lab.coverage.program_coverage import ProgramCoverage, corpus_coverage
from channelsim.channel.lab.fuzz import seeds
from channelsim.channel.lab.mutants.prepared_calls import fresh
from channelsim.channel.lab.target.target import Target, of_game
from channelsim.games import registry
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.vectors import Case, check, read
from tests.poker_corpus import FOLDER

LENGTH = "the length of the whole move is checked before its parts are taken"
NO_OPEN_CARDS = "nobody owes an open card after a draw; the other programs use it for them"
NO_RAISE_YET = "a street begins without a raise and without a bring-in; `mid` uses it for these"
FIRST_TO_DRAW = "who draws with a call is the first to draw, and gets the first positions"
BETS_AFTER = "a betting round follows every draw"
HIGH_ONLY = "rows are compared by high hands only; `end` uses it for low ones"


def _once(reasons: dict[str, str]) -> dict[str, tuple[int, str]]:
    return {function: (1, reason) for function, reason in reasons.items()}


_LENGTHS = _once({"opens": LENGTH, "holds": LENGTH})

REASONS: dict[str, dict[str, tuple[int, str]]] = {
    "deal": {"opens": (1, LENGTH)},
    "begin": {**_LENGTHS, "full_raise": (2, NO_RAISE_YET)},
    "mid": {
        "opens": (1, LENGTH),
        "replacements": (1, FIRST_TO_DRAW),
        "with_bettor": (1, BETS_AFTER),
    },
    "draw": {
        "opens": (1, LENGTH),
        "pending_size": (1, NO_OPEN_CARDS),
        "after_round": (1, BETS_AFTER),
    },
    "commit": {"opens": (1, LENGTH)},
    "show": _LENGTHS,
    "end": _LENGTHS,
    "rows": _LENGTHS,
    "score": {
        **_LENGTHS,
        **_once(dict.fromkeys(("rank_of", "straight_top", "key_of_groups"), HIGH_ONLY)),
    },
}
"""By program and function: how many places are not reached, and why."""


@cache
def target_of(game: str) -> tuple[Target, dict[str, ProgramCoverage]]:
    target = of_game(registry.get(game))
    return target, corpus_coverage(target, [])


@pytest.mark.parametrize("program", sorted(REASONS))
def test_every_place_is_reached_or_explained(program: str) -> None:
    cases = _cases(program)
    whole = target_of(cases[0].game)[1][program]
    for case in cases:
        assert check(case) == []
        whole.add(case_entry(target_of(case.game)[0], case))
    found = Counter(function for function, _ in whole.unreached())
    assert found == {function: count for function, (count, _) in REASONS[program].items()}


def test_every_program_has_cases() -> None:
    games = (registry.get(name) for name in registry.names())
    names = {name for game in games if game.family == "poker" for name in game.validators}
    assert names == set(REASONS) == {path.stem for path in FOLDER.glob("*.jsonl")}


def test_a_corpus_of_the_family_serves_each_of_its_games(tmp_path: Path) -> None:
    """Cases count whichever game they name, but the fuzzer starts from its own game's alone."""
    target, _ = target_of("holdem")
    entries = list(corpus.read(target, FOLDER))
    every = [case for name in target.programs for case in _cases(name)]
    assert [entry.id for entry in entries] == [case.id for case in sorted(every, key=_program)]
    assert [entry.differs for entry in entries] == [None] * len(entries)
    assert 0 < len(seeds.load(target, FOLDER)) <= sum(case.game == "holdem" for case in every)
    (tmp_path / "nothing.jsonl").touch()
    with pytest.raises(UsageError, match="holdem has no program 'nothing'"):
        list(corpus.read(target, tmp_path))


def test_calls_for_mutants_come_from_the_family() -> None:
    """States of the draw games name `draw`, which holdem does not have."""
    target, _ = target_of("holdem")
    assert {one.rules for one in target.family} == set(VARIANTS)
    turn = [one.rules for one in target.family].index("five-draw")
    draw = target.family_programs["draw"].hash
    assert any(draw in call.arguments for call in fresh(target, "family", turn, ("mid",))["mid"])


def _cases(program: str) -> list[Case]:
    with (FOLDER / f"{program}.jsonl").open("rb") as lines:
        return list(read(lines))


def _program(case: Case) -> str:
    return case.validator
