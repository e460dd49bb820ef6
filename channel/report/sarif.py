"""Reports in the format of SARIF, which shows findings at the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from channelsim.channel import __version__
from channelsim.channel.findings.finding import Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(
    source: str,
    findings: Iterable[tuple[str, Finding]],
    abouts: Mapping[str, str],
    incomplete: str = "",
) -> bytes:
    """The findings as a SARIF 2.1.0 log, each with the name of its check.

    A finding is at its line, or at `source`, a file; "" for none. `abouts` describe the checks by
    name, in a sentence each. `incomplete` says why not everything was checked.
    """
    notes = [{"level": "error", "message": {"text": incomplete}}] if incomplete else []
    run = {
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
        "invocations": [
            {"executionSuccessful": not incomplete, "toolExecutionNotifications": notes}
        ],
        "results": [
            {
                "ruleId": check,
                "level": "error",
                "message": {"text": finding.line},
                "locations": _locations(finding.source_line or finding.last_test or source),
                "properties": {"case": finding.vector},
            }
            for check, finding in findings
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n"


def _locations(place: str) -> list[dict[str, Any]]:
    """A file, or a line of one written as `file:line`; nothing for ""."""
    if not place:
        return []
    file, _, line = place.rpartition(":")
    if not (file and line.isdigit()):
        return [{"physicalLocation": {"artifactLocation": {"uri": quote(place)}}}]
    region = {"startLine": int(line)}
    return [{"physicalLocation": {"artifactLocation": {"uri": quote(file)}, "region": region}}]
