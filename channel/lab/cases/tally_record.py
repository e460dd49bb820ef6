"""The counts of the lab as JSON, the same bytes for the same counts.

Bytes are base64 there. The order of outcomes, samples and findings is that of the work, which
decides on what is shown and traced.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.trial import Fingerprint, LabTally, Sample


class TallyRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `LabTally`; by validator where that has it so."""

    outcomes: dict[str, dict[str, int]]
    tried: dict[str, int]
    costs: dict[str, int]
    samples: dict[str, dict[str, list[Sample]]]
    prints: dict[str, list[Fingerprint]]
    runaway: list[str]
    spent: int
    findings: list[Finding]


def tally_record(tally: LabTally) -> TallyRecord:
    """The record of some counts."""
    return TallyRecord(
        outcomes={name: dict(counts) for name, counts in tally.outcomes.items()},
        tried=dict(tally.tried),
        costs=tally.costs,
        samples=tally.samples,
        prints={name: sorted(prints) for name, prints in tally.prints.items()},
        runaway=sorted(tally.runaway),
        spent=tally.spent,
        findings=[
            msgspec.structs.replace(finding, times=tally.broken[cause])
            for cause, finding in tally.findings.items()
        ],
    )


def tally_of(record: TallyRecord) -> LabTally:
    """The counts of a record."""
    tally = LabTally(
        outcomes={name: Counter(counts) for name, counts in record.outcomes.items()},
        tried=Counter(record.tried),
        costs=dict(record.costs),
        samples={name: dict(by_end) for name, by_end in record.samples.items()},
        prints={name: set(prints) for name, prints in record.prints.items()},
        runaway=set(record.runaway),
        spent=record.spent,
    )
    for finding in record.findings:
        tally.found(finding)
    return tally
