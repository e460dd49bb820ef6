"""Findings of a crosscheck in the directory of its campaign, written when they are found."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import msgspec

from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.job import Counts
from channelsim.channel.lab.cases.trial import LabFinding, LabTally
from channelsim.channel.lab.target.target import Target
from channelsim.games.vectors import Case, arguments

FORMAT = "channelsim crosscheck finding 1"


@dataclass
class FindingFiles:
    """Writes each cause once, and again when a case shows a greater loss; nothing without a
    directory."""

    directory: CampaignDirectory[Any] | None
    target: Target
    written: dict[str, int] = field(default_factory=dict)

    def write(self, tally: LabTally) -> Counts:
        """Write what is new among the counts so far; return the counts of the campaign."""
        if self.directory is not None:
            for finding, times in tally.causes():
                name = file_name(finding)
                if self.written.get(name, -1) < finding.loss:
                    self.directory.write_finding(
                        name, finding_document(self.target, finding, times)
                    )
                    self.written[name] = finding.loss
        prints = sum(map(len, tally.prints.values()))
        return {"findings": len(tally.findings), "paths": prints}

    def write_last(self, tally: LabTally) -> None:
        """Write all causes again, as a campaign that is done has them, and remove other files.

        Earlier files depend on the order in which the shards came; a loss that is found later
        renames a cause.
        """
        if self.directory is None:
            return
        before, self.written = self.written, {}
        self.write(tally)
        for name in before.keys() - self.written.keys():
            (self.directory.findings / name).unlink(missing_ok=True)


def finding_document(target: Target, finding: LabFinding, times: int) -> dict[str, Any]:
    """A finding as it is written: as in the document of the command, with its format.

    `source` is the game or file that the target was, and `brun` the program and the environment of
    the run, by which a trace knows that the programs are still the same.
    """
    run = finding.run
    if run is None and finding.vector is not None and finding.validator in target.present:
        case = msgspec.convert(finding.vector, Case)
        environment = arguments(case, target.name, target.programs)
        run = target.programs[case.validator].serialized, environment
    return {
        "format": FORMAT,
        "target": target.name,
        "source": target.source,
        **finding.document(),
        "brun": {} if run is None else {"program": run[0].hex(), "environment": run[1].hex()},
        "loss": finding.loss,
        "times": times,
    }


def file_name(finding: LabFinding) -> str:
    """The name of the file of a finding: the same for the same cause."""
    text = f"{finding.validator} {finding.law} {finding.text}"
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    digest = sha256(f"{finding.severity}\0{text}".encode()).hexdigest()[:8]
    return f"{slug[:60]}-{digest}.json"
