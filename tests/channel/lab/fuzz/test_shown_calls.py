"""Laws without rules make calls of their own: findings show those, and are replayed by them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.fuzz.findings import IN_ANOTHER_STATE, still_broken
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from tests.channel.lab.toys import toy

WORK = 400_000


def found(target: Target, law: str) -> Finding:
    fuzzer = Fuzzer(target, "shown")
    for _ in fuzzer.run(WORK):
        if any(finding.rule == law for finding in fuzzer.tally.findings):
            break
    return next(finding for finding in fuzzer.findings() if finding.rule == law)


@pytest.mark.parametrize(
    ("law", "differs", "text"),
    [
        ("shares are bound", "share: ", "where honest play would leave"),
        ("commitments are bound", "move, byte ", "may claim all"),
    ],
)
def test_a_finding_says_how_the_call_of_a_law_differs(
    law: str, differs: str, text: str, tmp_path: Path
) -> None:
    finding = found(load(str(toy(tmp_path, law))), law)
    assert [line.startswith(differs) for line in finding.differs] == [True]
    assert text in finding.text
    assert IN_ANOTHER_STATE not in finding.differs


def test_a_call_that_its_probe_does_not_lead_to_is_replayed_as_it_is(tmp_path: Path) -> None:
    for name in ("wrong", "right"):
        (tmp_path / name).mkdir()
    law = "shares are bound"
    wrong, right = load(str(toy(tmp_path / "wrong", law))), load(str(toy(tmp_path / "right")))
    data = msgspec.to_builtins(found(wrong, law))
    assert still_broken(wrong, data)
    assert still_broken(right, data) == []
    # As a law that needs other moves of the hand, which a probe does not have.
    data["rule"] = "one encoding"
    assert still_broken(wrong, data) == ["program: expected slash, got valid"]
    assert still_broken(right, data) == []
    del data["vector"]
    assert still_broken(wrong, data) == []
