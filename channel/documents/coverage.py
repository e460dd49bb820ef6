"""Documents of `coverage`."""

from __future__ import annotations

import msgspec

from channelsim.channel.documents.results import Results
from channelsim.channel.findings.finding import Figure
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
