"""Results of conformance checks as JSON, JUnit and SARIF."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import msgspec

from channelsim.channel import __version__
from channelsim.channel.kit.conformance import INTERRUPTED, CheckResult, Status

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def document(target: str, results: Sequence[CheckResult]) -> dict[str, Any]:
    """The results as JSON data; `failures` have a `text`, and a `case` where one shows them."""
    return {
        "target": target,
        "failed": sum(result.status is Status.FAILED for result in results),
        "interrupted": any(result.unchecked == INTERRUPTED for result in results),
        "checks": [
            {
                "check": result.check,
                "result": result.status.value,
                "tried": result.tried,
                "why": result.unchecked,
                "failures": [
                    {"text": failure.text, "case": failure.case} for failure in result.failures
                ],
            }
            for result in results
        ],
    }


def junit(target: str, results: Sequence[CheckResult]) -> bytes:
    """The results as a JUnit file: a test case for each check, skipped if it was not checked."""
    suite = ElementTree.Element(
        "testsuite",
        name=plain(f"channelsim conform {target}"),
        tests=str(len(results)),
        failures=str(sum(result.status is Status.FAILED for result in results)),
        skipped=str(sum(result.status is Status.NOT_CHECKED for result in results)),
    )
    for result in results:
        case = ElementTree.SubElement(suite, "testcase", classname=plain(target), name=result.check)
        if result.unchecked:
            ElementTree.SubElement(case, "skipped", message=plain(result.unchecked))
        for failure in result.failures:
            ElementTree.SubElement(case, "failure", message=plain(failure.text)).text = plain(
                "" if failure.case is None else msgspec.json.encode(failure.case).decode()
            )
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def sarif(source: str, results: Sequence[CheckResult], abouts: dict[str, str]) -> bytes:
    """The failures as a SARIF 2.1.0 log, each at the target's `source`.

    `abouts` describe the checks by name, in a sentence each.
    """
    found = [(result.check, failure) for result in results for failure in result.failures]
    location = {"physicalLocation": {"artifactLocation": {"uri": quote(source)}}}
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
                        "message": {"text": failure.text},
                        "locations": [location],
                        "properties": {"case": failure.case},
                    }
                    for check, failure in found
                ],
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n"


def plain(text: str) -> str:
    """Replace what XML cannot hold."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)
