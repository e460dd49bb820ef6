"""Coverage of stored cases: the code that they reach, and cases that do not hold."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import Change, coverage_changes, new_and_mended
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.coverage import CoverageDocument
from channelsim.clsp.analysis.tracer import CoverageCounts


def compare(before: CoverageDocument, after: CoverageDocument, tolerance: float) -> list[Change]:
    """Coverage by function, and cases with another outcome than the expected one."""
    return [
        *coverage_changes(_functions(before), _functions(after)),
        *new_and_mended(_differences(before), _differences(after)),
    ]


def _functions(document: CoverageDocument) -> dict[str, CoverageCounts]:
    return {
        name if function == name else f"{name}, {function}": covered
        for name, program in document.programs.items()
        for function, covered in program.functions.items()
    }


def _differences(document: CoverageDocument) -> dict[str, str]:
    differing = [
        f"{name}: {text}" for name, program in document.programs.items() for text in program.differs
    ]
    return dict(zip(differing, differing, strict=True))


def _cases(document: CoverageDocument) -> tuple[float, str]:
    return sum(program.cases for program in document.programs.values()), "cases"


KIND = DocumentKind(CoverageDocument, compare, _cases)
