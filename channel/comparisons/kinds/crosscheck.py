"""Crosschecks: their findings, what was tried, and, in the same cases, costs and coverage."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import (
    Change,
    coverage_changes,
    dearer_and_cheaper,
    lost_and_added,
    new_and_mended,
)
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.crosscheck import CrosscheckDocument
from channelsim.clsp.analysis.tracer import CoverageCounts


def compare(
    before: CrosscheckDocument, after: CrosscheckDocument, tolerance: float
) -> list[Change]:
    """New and mended causes, and what is no longer tried.

    Highest costs and sampled coverage depend on the cases, and are compared if both had the same.
    """
    changes = new_and_mended(_causes(before), _causes(after))
    changes += lost_and_added(_tried(before), _tried(after))
    if (before.seed, before.cases) == (after.seed, after.cases):
        changes += dearer_and_cheaper(_costs(before), _costs(after), tolerance)
        changes += coverage_changes(_reached(before), _reached(after))
    return changes


def _causes(document: CrosscheckDocument) -> dict[tuple[str, str, str], str]:
    return {
        (finding.rule, finding.place, finding.text): finding.line for finding in document.findings
    }


def _reached(document: CrosscheckDocument) -> dict[str, CoverageCounts]:
    """The traced code, by validator."""
    sampled = document.coverage.items()
    return {name: coverage.reached for name, coverage in sampled if coverage.reached is not None}


def _costs(document: CrosscheckDocument) -> dict[str, int]:
    return {f"highest cost of {path}": cost for path, cost in document.most_cost.items()}


def _tried(document: CrosscheckDocument) -> list[str]:
    """The validators that cases reached, and the laws that were tried."""
    laws = [f"tries of the law {name!r}" for name, times in document.tried.items() if times]
    return [*(f"cases of {name}" for name in document.outcomes), *laws]


KIND = DocumentKind(CrosscheckDocument, compare, lambda document: (document.cases, "cases"))
