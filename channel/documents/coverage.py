"""Documents of `coverage`."""

from __future__ import annotations

import msgspec

from channelsim.channel.documents.results import Results
from channelsim.channel.findings.finding import FAILED_CHECK, Figure, Finding
from channelsim.clsp.analysis.tracer import CoverageCounts


class UnreachedCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Code that no case reached, and the stored reason why none can."""

    function: str
    code: str
    source_line: str
    reason: str | None


class CoveredProgram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program's coverage by stored cases; `differs` are those with an unexpected outcome."""

    cases: Figure
    total: CoverageCounts
    functions: dict[str, CoverageCounts]
    unreached: tuple[UnreachedCode, ...]
    differs: tuple[str, ...]


class CoverageDocument(Results, frozen=True, kw_only=True, tag="channelsim document coverage 1"):
    """The coverage of each program by a corpus."""

    command = "coverage"

    programs: dict[str, CoveredProgram]

    def every_finding(self) -> tuple[Finding, ...]:
        """The cases that do not end as expected."""
        return tuple(
            failed_coverage(name, text)
            for name, program in self.programs.items()
            for text in program.differs
        )


def failed_coverage(program: str, text: str, line: str = "") -> Finding:
    """A program's case that ends otherwise, or code that is not reached, at a line of source."""
    return Finding(
        rule="coverage", place=program, severity=FAILED_CHECK, text=text, source_line=line
    )
