"""The planted differences are real ones: the programs differ on the witness of each."""

from __future__ import annotations

import pytest

from channelsim.clsp.run import ProgramValid, outcome_word, run
from tests.channel.prove.programs import DIFFERENT, EQUIVALENT, WRONG, Pair, assemble, environment


def outcomes(pair: Pair) -> list[object]:
    both = [run(assemble(text), environment(pair.witness)) for text in (pair.left, pair.right)]
    return [end.value if isinstance(end, ProgramValid) else outcome_word(end) for end in both]


@pytest.mark.parametrize("pair", DIFFERENT, ids=lambda pair: pair.name)
def test_the_programs_of_a_planted_difference_differ(pair: Pair) -> None:
    left, right = outcomes(pair)
    assert left != right


@pytest.mark.parametrize("pair", EQUIVALENT, ids=lambda pair: pair.name)
def test_equivalent_programs_are_not_the_same(pair: Pair) -> None:
    left, right = outcomes(pair)
    assert left == right
    assert assemble(pair.left) != assemble(pair.right)


def test_there_are_enough() -> None:
    assert len(DIFFERENT) >= 60
    assert len(EQUIVALENT) >= 10
    assert len({wrong.model for wrong in WRONG}) >= 10
