"""Mistakes that hide from mutations of honest moves, in programs without rules and with."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.lab.target.target import load
from tests.channel.lab.broken import target_file
from tests.channel.lab.campaigns import searched
from tests.channel.lab.toys import HIDDEN, toy

WORK = 300_000


@pytest.mark.parametrize("mistake", HIDDEN)
def test_a_hidden_mistake_is_found(mistake: str, tmp_path: Path) -> None:
    target = load(str(toy(tmp_path, mistake)))
    found = searched(target, "b", WORK).found
    assert {one.validator for one in found} == {HIDDEN[mistake][-1][0]}
    assert {one.severity for one in found} == {"theft"}


RARE = (
    *("spacepoker/end.clsp", "(= (strlen MOVE) 17) "),
    "(= (strlen MOVE) (if (= (strlen (logand waiter_preimage waiter_preimage)) 15) 18 17))",
)
"""A preimage that can be written in fewer bytes comes once in 256 showdowns."""


@pytest.mark.long
def test_a_mistake_at_a_rare_encoding_is_found(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", RARE)))
    found = searched(target, "c", 2 * WORK).found
    assert {one.validator for one in found} == {"end"}
