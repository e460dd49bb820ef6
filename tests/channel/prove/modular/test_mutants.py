"""Mutants of real programs: those that the cases kill are never proved, most argued ones are."""

from __future__ import annotations

from functools import cache
from random import Random
from time import thread_time

import pytest

from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.reasons import stored_reasons
from channelsim.channel.lab.mutants.report import all_mutants
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.prove.modular.mutant import Original
from channelsim.channel.prove.survivors import answer, by_functions, original_of
from channelsim.clsp.programs import Program

SHARED = {
    "deal": "holdem",
    "begin": "holdem",
    "mid": "holdem",
    "draw": "five-draw",
    "commit": "chinese",
}
UNPROVED = 10
"""Groups of the poker programs that are left to the comparison of whole programs."""


@cache
def original(game: str, name: str) -> Original:
    return original_of(load(game), name)


def mutants(game: str, name: str, *, argued: bool) -> list[Mutant]:
    target = load(game)
    known = stored_reasons(target)
    every = all_mutants(target, name)
    return [mutant for mutant in every if (known.reason(mutant) is not None) == argued]


def is_proved(game: str, mutant: Mutant, seconds: float = 5.0) -> bool:
    return bool(by_functions(original(game, mutant.validator), Program(mutant.program), seconds))


@pytest.mark.long
def test_no_killed_mutant_is_proved() -> None:
    killed = Random("killed").sample(mutants("chinese", "commit", argued=False), 4)
    assert not [mutant for mutant in killed if is_proved("chinese", mutant, 0.3)]


def test_the_answer_says_why() -> None:
    (mutant,) = [m for m in mutants("chinese", "commit", argued=True) if m.function == "opens"]
    proof = answer((), original("chinese", "commit"), Program(mutant.program), 5.0)
    assert proof.text == "equivalent, proved: `opens` is the same, whatever it calls"


def test_nothing_is_asked_without_time() -> None:
    (mutant,) = [m for m in mutants("chinese", "commit", argued=True) if m.function == "opens"]
    start = thread_time()
    assert not is_proved("chinese", mutant, 0.0)
    assert thread_time() - start < 1


@pytest.mark.long
@pytest.mark.parametrize("name", SHARED)
def test_killed_mutants_of_poker_are_not_proved(name: str) -> None:
    killed = Random(name).sample(mutants(SHARED[name], name, argued=False), 100)
    assert not [mutant for mutant in killed if is_proved(SHARED[name], mutant, 1.0)]


@pytest.mark.long
def test_most_groups_of_poker_are_proved() -> None:
    left = set()
    for name, game in SHARED.items():
        known = stored_reasons(load(game))
        for mutant in mutants(game, name, argued=True):
            if not is_proved(game, mutant, 10.0):
                left.add((name, mutant.function, known.reason(mutant)))
    assert 0 < len(left) <= UNPROVED, sorted(left)
