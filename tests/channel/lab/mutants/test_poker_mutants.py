"""The mutants of the poker programs: stored cases kill all but those with a reason, and a few."""

from __future__ import annotations

import pytest

from channelsim.channel.lab.mutants.report import all_mutants
from tests.poker_corpus import FOLDER
from tests.poker_kills import survivors, targets

OPEN = 0.005
"""At most this share of a program's mutants is neither killed nor argued."""


@pytest.mark.long
@pytest.mark.parametrize("program", sorted(path.stem for path in FOLDER.glob("*.jsonl")))
def test_stored_cases_kill_nearly_every_mutant_without_a_reason(program: str) -> None:
    left = survivors(program)
    made = all_mutants(targets()[program], program)
    assert len(left) <= OPEN * len(made), left
