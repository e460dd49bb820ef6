"""The counts of the lab as JSON, the same bytes for the same counts.

Bytes are base64 there. The order of outcomes, samples and findings is that of the work, which
decides on what is shown and traced.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from channelsim.channel.lab.cases.trial import Fingerprint, LabFinding, LabTally, Sample
from channelsim.clsp.values import deserialize, serialize


class FindingRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `LabFinding`, and how many times its cause was found; the evidence is serialized."""

    law: str
    validator: str
    severity: str
    text: str
    cause: str
    vector: dict[str, Any] | None
    move: bytes
    share: int
    evidence: bytes
    run: tuple[bytes, bytes] | None
    loss: int
    order_only: bool
    times: int


class TallyRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `LabTally`; by validator where that has it so."""

    outcomes: dict[str, dict[str, int]]
    tried: dict[str, int]
    costs: dict[str, int]
    samples: dict[str, dict[str, list[Sample]]]
    prints: dict[str, list[Fingerprint]]
    runaway: list[str]
    spent: int
    findings: list[FindingRecord]


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
            FindingRecord(
                law=one.law,
                validator=one.validator,
                severity=one.severity,
                text=one.text,
                cause=one.cause,
                vector=one.vector,
                move=one.move,
                share=one.share,
                evidence=serialize(one.evidence),
                run=one.run,
                loss=one.loss,
                order_only=one.order_only,
                times=tally.broken[key],
            )
            for key, one in tally.findings.items()
        ],
    )


def tally_of(record: TallyRecord) -> LabTally:
    """The counts of a record. Raises `ValueError` for evidence that is not serialized."""
    tally = LabTally(
        outcomes={name: Counter(counts) for name, counts in record.outcomes.items()},
        tried=Counter(record.tried),
        costs=dict(record.costs),
        samples={name: dict(by_end) for name, by_end in record.samples.items()},
        prints={name: set(prints) for name, prints in record.prints.items()},
        runaway=set(record.runaway),
        spent=record.spent,
    )
    for one in record.findings:
        finding = LabFinding(
            one.law,
            one.validator,
            one.severity,
            one.text,
            one.cause,
            one.vector,
            one.move,
            one.share,
            deserialize(one.evidence),
            one.run,
            one.loss,
            one.order_only,
        )
        key = one.law, one.validator, one.severity, one.text
        tally.findings[key] = finding
        tally.broken[key] = one.times
    return tally
