"""The stored corpus of the poker programs: verdicts agree, and every place is reached or explained.

All poker games share their programs, so that only together they reach all of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases import corpus
from channelsim.channel.lab.cases.corpus import CaseRuns, site_cases
from channelsim.channel.lab.coverage.coverage import (
    ProgramCoverage,
    corpus_coverage,
    stored_reasons,
    unexplained,
)
from channelsim.channel.lab.mutants.judged_cases import fresh
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games import registry
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.vectors import Case, check, read
from tests.corpus import stored_corpus
from tests.poker_corpus import FOLDER
from tests.sampling import one_in

PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


@cache
def target_of(game: str) -> tuple[Target, dict[str, ProgramCoverage]]:
    target = of_game(registry.get(game))
    return target, corpus_coverage(target, [])


@pytest.mark.parametrize("program", one_in(3, PROGRAMS))
def test_every_place_is_reached_or_explained(program: str) -> None:
    """And nothing is explained that is there no longer. The first cases of a file reach it all; the
    others kill mutants, and are run by the long test of these."""
    cases = _cases(program)
    target, found = target_of(cases[0].game)
    whole, reasons = found[program], stored_reasons(target)
    for case in cases:
        assert check(case) == []
        if whole.add(CaseRuns(target_of(case.game)[0]).stored(case)) and not unexplained(
            whole, reasons
        ):
            break
    assert unexplained(whole, reasons) == []
    explained = {tuple(place) for name, *place in reasons if name == program}
    assert explained == set(whole.unreached())


def test_every_program_has_cases() -> None:
    games = (registry.get(name) for name in registry.names())
    names = {name for game in games if game.family == "poker" for name in game.validators}
    assert names == set(PROGRAMS)


def test_installed_games_with_a_corpus_in_their_package_have_it_without_an_option() -> None:
    own = corpus.own_corpus(load("omaha"))
    assert own is not None
    assert own.samefile(FOLDER)
    own = corpus.own_corpus(load("calpoker"))
    assert own is not None
    assert own.samefile(stored_corpus("calpoker"))
    by_a_file = replace(load("omaha"), source="mine.toml")
    assert corpus.own_corpus(by_a_file) is None, "its programs may be others"


def test_a_corpus_of_the_family_serves_each_of_its_games(tmp_path: Path) -> None:
    """Cases count whichever game they name, but the fuzzer starts from its own game's alone."""
    target, _ = target_of("holdem")
    some = {name: _cases(name)[::4] for name in PROGRAMS}
    for name, cases in some.items():
        lines = b"".join(msgspec.json.encode(case) + b"\n" for case in cases)
        (tmp_path / f"{name}.jsonl").write_bytes(lines)
    entries = list(corpus.read(target, tmp_path))
    every = [case for name in target.programs for case in some[name]]
    assert [entry.id for entry in entries] == [case.id for case in sorted(every, key=_program)]
    assert [entry.differs for entry in entries] == [None] * len(entries)
    assert 0 < len(site_cases(target, tmp_path)) <= sum(case.game == "holdem" for case in every)
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
