"""Reports for continuous integration in the format of JUnit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

EVERYTHING = "everything was tried"
"""The test case of a run in which something was not tried."""


class JUnitFailure(NamedTuple):
    """One failure of a test case: a line, more text below it, and its kind, if it has one."""

    message: str
    text: str
    kind: str = ""


class JUnitCase(NamedTuple):
    """A test case: passed without failures, unless there is a reason why it was skipped."""

    name: str
    failures: Sequence[JUnitFailure]
    skipped: str = ""


def junit(
    command: str,
    target: str,
    cases: Sequence[JUnitCase],
    summary: str,
    seconds: float | None = None,
    incomplete: str = "",
) -> bytes:
    """The report of a command on a target, if it has one (""), as XML.

    `seconds` is how long it took. `summary` counts the findings; it is the property `summary` of
    the suite. `incomplete` says why not everything was tried; it is the error of a test case of its
    own.
    """
    suite = ElementTree.Element(
        "testsuite",
        name=_plain(f"channelsim {command} {target}".rstrip()),
        tests=str(len(cases) + bool(incomplete)),
        failures=str(sum(bool(case.failures) for case in cases)),
        errors=str(int(bool(incomplete))),
        skipped=str(sum(bool(case.skipped) for case in cases)),
    )
    if seconds is not None:
        suite.set("time", f"{seconds:.3f}")
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", name="summary", value=_plain(summary))
    for case in cases:
        element = ElementTree.SubElement(
            suite, "testcase", classname=_plain(target or command), name=_plain(case.name)
        )
        if case.skipped:
            ElementTree.SubElement(element, "skipped", message=_plain(case.skipped))
        for failure in case.failures:
            shown = ElementTree.SubElement(element, "failure", message=_plain(failure.message))
            shown.text = _plain(failure.text)
            if failure.kind:
                shown.set("type", failure.kind)
    if incomplete:
        element = ElementTree.SubElement(
            suite, "testcase", classname=_plain(target or command), name=EVERYTHING
        )
        ElementTree.SubElement(element, "error", message=_plain(incomplete), type="incomplete")
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def _plain(text: str) -> str:
    """Replace what XML cannot hold."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)
