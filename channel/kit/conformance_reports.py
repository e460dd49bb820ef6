"""Results of conformance checks as JSON, JUnit and SARIF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from channelsim.channel import __version__
from channelsim.channel.documents.conform import CheckResult, ConformDocument, Status
from channelsim.channel.kit.conformance import INTERRUPTED
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.junit import JUnitCase, JUnitFailure
from channelsim.channel.report.terminal import json_line

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def document(
    target: Target, seed: str, results: Sequence[CheckResult], digest: str | None
) -> ConformDocument:
    """The results as a document."""
    interrupted = any(result.unchecked == INTERRUPTED for result in results)
    return ConformDocument(
        target=target.name,
        dealer=target.dealer,
        seed=seed,
        interrupted=interrupted,
        digest=None if interrupted else digest,
        failed=sum(result.result is Status.FAILED for result in results),
        checks=tuple(results),
    )


def junit_cases(results: Sequence[CheckResult]) -> list[JUnitCase]:
    """The results as test cases: one for each check, skipped if it was not checked."""
    return [
        JUnitCase(
            result.check,
            [
                JUnitFailure(
                    failure.line,
                    json_line(failure.vector) if failure.vector is not None else failure.replay,
                    failure.severity,
                )
                for failure in result.failures
            ],
            result.unchecked,
        )
        for result in results
    ]


def sarif(source: str, results: Sequence[CheckResult], abouts: dict[str, str]) -> bytes:
    """The failures as a SARIF 2.1.0 log, each at its line, or at the target's `source`.

    `abouts` describe the checks by name, in a sentence each.
    """
    failures = [(result.check, failure) for result in results for failure in result.failures]
    log = {
        "$schema": SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "channelsim",
                        "version": __version__,
                        "rules": [
                            {"id": check, "shortDescription": {"text": about}}
                            for check, about in abouts.items()
                        ],
                    }
                },
                "results": [
                    {
                        "ruleId": check,
                        "level": "error",
                        "message": {"text": failure.line},
                        "locations": [
                            _location(failure.source_line or failure.last_test or source)
                        ],
                        "properties": {"case": failure.vector},
                    }
                    for check, failure in failures
                ],
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n"


def _location(place: str) -> dict[str, Any]:
    """A file, or a line of one written as `file:line`."""
    file, _, line = place.rpartition(":")
    if not (file and line.isdigit()):
        return {"physicalLocation": {"artifactLocation": {"uri": quote(place)}}}
    region = {"startLine": int(line)}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(file)}, "region": region}}
