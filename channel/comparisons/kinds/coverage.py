"""Coverage of stored cases: the code that they reach, and cases that do not hold."""

from __future__ import annotations

import msgspec

from channelsim.channel.comparisons.changes import Change, Number, new_and_mended
from channelsim.channel.comparisons.coverage_changes import Covered, coverage_changes
from channelsim.channel.comparisons.documents import DocumentKind


class CoveredProgram(msgspec.Struct, frozen=True):
    """What is compared of one program; its own figures are the sums of those of its functions."""

    cases: Number
    functions: dict[str, Covered]
    differs: list[str]


class CoverageDocument(msgspec.Struct, frozen=True):
    """What is compared of `coverage --json`."""

    target: str
    programs: dict[str, CoveredProgram]
    interrupted: bool

    @property
    def cases(self) -> int:
        """The number of cases of all programs."""
        return sum(one.cases for one in self.programs.values())


def compare(before: CoverageDocument, after: CoverageDocument, tolerance: float) -> list[Change]:
    """Coverage by function, and cases with another outcome than the expected one."""
    return [
        *coverage_changes(_functions(before), _functions(after)),
        *new_and_mended(_differences(before), _differences(after)),
    ]


def _functions(document: CoverageDocument) -> dict[str, Covered]:
    return {
        name if function == name else f"{name}, {function}": covered
        for name, program in document.programs.items()
        for function, covered in program.functions.items()
    }


def _differences(document: CoverageDocument) -> dict[str, str]:
    every = [f"{name}: {text}" for name, one in document.programs.items() for text in one.differs]
    return dict(zip(every, every, strict=True))


KIND = DocumentKind(
    "coverage",
    frozenset(("target", "programs", "interrupted")),
    CoverageDocument,
    compare,
    "cases",
)
