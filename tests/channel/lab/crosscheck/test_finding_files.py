"""The files of findings are those of the whole campaign, in whatever order its shards came."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

from channelsim.channel.campaign import directory
from channelsim.channel.campaign.shards import Configuration, Plan
from channelsim.channel.findings.finding import MOVER, OPPONENT, THEFT, Finding, Loss
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.crosscheck.crosscheck import findings
from channelsim.channel.lab.targets.loading import load

CONFIGURATION = Configuration("crosscheck", "1", "t", "s", {})
TARGET = load("spacepoker")
PLAN = Plan(CONFIGURATION.digest, 3, 1)


def tally(*losses: int) -> LabTally:
    found = LabTally()
    for loss in losses:
        found.found(
            Finding(
                rule="a law",
                place="e",
                severity=THEFT,
                text="a text",
                loss=Loss(MOVER, OPPONENT, loss) if loss else None,
            )
        )
    return found


def files(path: Path, parts: Sequence[LabTally]) -> dict[str, int]:
    """The number of times in each file, after these parts came in this order."""
    with directory.opened(path, CONFIGURATION, PLAN, "cases", resume=False) as opened:
        written, so_far = FindingFiles(opened.findings), LabTally()
        for part in parts:
            so_far.merge(part)
            written.write(findings(TARGET, so_far))
        written.write_last(findings(TARGET, so_far))
        return {one.name: json.loads(one.read_text())["times"] for one in opened.findings.iterdir()}


def test_the_order_of_shards_changes_no_file(tmp_path: Path) -> None:
    parts = [tally(0), tally(5, 0), tally(0, 0)]
    (first, *rest) = [
        files(tmp_path / str(number), some) for number, some in enumerate(permutations(parts))
    ]
    assert list(first.values()) == [5]
    assert rest == [first] * 5
