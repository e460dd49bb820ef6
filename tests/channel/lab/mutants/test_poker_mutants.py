"""The mutants of the poker programs: stored cases kill all but those with a reason."""

from __future__ import annotations

import pytest

from tests.poker_corpus import FOLDER
from tests.poker_kills import survivors


@pytest.mark.long
@pytest.mark.parametrize("program", sorted(path.stem for path in FOLDER.glob("*.jsonl")))
def test_stored_cases_kill_every_mutant_without_a_reason(program: str) -> None:
    assert survivors(program) == []
