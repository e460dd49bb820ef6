"""The stored reasons: each is of a mutant that there is, and of one that nothing kills."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channel.lab.mutants.reasons import stored_reasons
from channel.lab.mutants.report import all_mutants, hunted
from channel.lab.target.target import REFEREE, of_game
from clsp.programs import Program
from clsp.values import serialize
from games import registry


@pytest.mark.parametrize("chunks", [0, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("game", registry.names())
def test_the_reasons_are_of_these_programs_and_hold_so_far(game: str, chunks: int) -> None:
    target = of_game(registry.get(game))
    known = stored_reasons(target)
    everything = [*all_mutants(target), *all_mutants(target, REFEREE)]
    assert known.reasons
    assert known.stale(everything) == []
    claimed = [mutant for mutant in everything if known.reason(mutant) is not None]
    assert len(claimed) == len(known.reasons)
    report = hunted(
        target, claimed, seed="argued", seconds=3600, jobs=1, argued_too=True, chunks=chunks
    )
    assert [result.mutant for result in report.hunt.results if result.killed] == []
    assert report.passed
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
