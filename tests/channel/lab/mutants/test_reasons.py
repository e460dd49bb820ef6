"""The stored reasons: each is of a mutant that there is, and of one that nothing kills."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.reasons import stored_reasons
from channelsim.channel.lab.mutants.report import all_mutants, hunted
from channelsim.channel.lab.targets.target import REFEREE, of_game
from channelsim.clsp.programs import Program
from channelsim.clsp.values import serialize
from channelsim.games import registry
from tests.menu import each_game, each_game_without_a_deck

CHUNKS = 8
"""Chunks of fresh cases that no mutant with a reason differs in, besides the prepared cases."""


@cache
def everything(game: str) -> list[Mutant]:
    target = of_game(registry.get(game))
    return [*all_mutants(target), *all_mutants(target, REFEREE)]


@each_game
def test_the_reasons_are_of_these_programs(game: str) -> None:
    known = stored_reasons(of_game(registry.get(game)))
    assert known.reasons
    assert known.stale(everything(game)) == []
    claimed = [mutant for mutant in everything(game) if known.reason(mutant) is not None]
    assert len(claimed) == len(known.reasons)


@pytest.mark.long
@each_game_without_a_deck
def test_nothing_kills_a_mutant_with_a_reason(game: str) -> None:
    target = of_game(registry.get(game))
    known = stored_reasons(target)
    claimed = [mutant for mutant in everything(game) if known.reason(mutant) is not None]
    report = hunted(
        target, claimed, seed="argued", seconds=3600, jobs=1, argued_too=True, chunks=CHUNKS
    )
    assert [result.mutant for result in report.hunt.results if result.killed] == []
    assert not report.failed(60)
    assert {one.reason for one in report.survivors} == set(known.reasons.values())


def test_the_reasons_of_one_program_say_nothing_of_another() -> None:
    target = of_game(registry.get("calpoker"))
    name = "e"
    other = Program(serialize((b"\x01", target.programs[name].value)))
    changed = replace(target, programs={**target.programs, name: other})
    left = stored_reasons(changed)
    assert {validator for validator, *_ in left.reasons} == {"c", REFEREE}
    assert {validator for validator, *_ in stored_reasons(target).reasons} == {"c", "e", REFEREE}


def test_a_reason_without_its_mutant_is_found() -> None:
    target = of_game(registry.get("calpoker"))
    without = [mutant for mutant in all_mutants(target) if mutant.function != "merge"]
    known = stored_reasons(target)
    assert any("merge" in key for key in known.stale(without))
