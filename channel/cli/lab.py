"""`channelsim crosscheck`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from channel.cli.progress import progress
from channel.errors import UsageError
from channel.interrupt import exit_code, finishing
from channel.lab.coverage import Reached, coverage
from channel.lab.crosscheck import Report
from channel.lab.crosscheck import crosscheck as run
from channel.lab.runs import EXCEEDED, RAISE, SLASH, VALID
from channel.lab.target import load
from channel.lab.trial import Finding

SHOWN = 12
"""How many causes are told; the rest are counted."""


def crosscheck(target: str, *, cases: int, seed: str, jobs: int | None, json: bool) -> int:
    """Hold a target against its rules; the exit code, 1 when a law is broken."""
    if cases < 1:
        raise UsageError(f"--cases {cases}: at least 1")
    with progress("crosscheck", "cases") as bar:
        report = run(load(target), cases, seed, jobs or os.cpu_count() or 1, bar)
        with finishing():
            bar.phase("coverage")
            reached = coverage(report.target, report.tally)
    with finishing():
        if json:
            text = msgspec.json.format(msgspec.json.encode(document(report, reached)), indent=2)
            print(text.decode())
        else:
            _print(report, reached)
    return exit_code(report.interrupted, failed=bool(report.broken))


def document(report: Report, reached: dict[str, Reached]) -> dict[str, Any]:
    """A report as JSON data."""
    tally = report.tally
    return {
        "target": report.target.name,
        "rules": report.target.rules,
        "seed": report.seed,
        "cases": report.cases,
        "disagreements": report.disagreements,
        "seconds": round(report.seconds, 3),
        "cases_per_second": round(report.cases / report.seconds),
        "interrupted": report.interrupted,
        "outcomes": {name: dict(sorted(found.items())) for name, found in tally.outcomes.items()},
        "tried": dict(sorted(tally.tried.items())),
        "most_cost": dict(sorted(tally.costs.items())),
        "coverage": msgspec.to_builtins(reached),
        "findings": [{**finding.document(), "times": times} for finding, times in causes(report)],
    }


def causes(report: Report) -> list[tuple[Finding, int]]:
    """What was found, each cause once with how often, the most frequent first."""
    return report.tally.causes()


def _print(report: Report, reached: dict[str, Reached]) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    tally = report.tally
    table = Table(title=f"{report.target.name} against the rules of {report.target.rules}")
    table.add_column("validator")
    for heading in (VALID, SLASH, RAISE, EXCEEDED, "paths", "nodes", "branches"):
        table.add_column(heading, justify="right")
    for name in report.target.programs:
        counts: Mapping[str, int] = tally.outcomes.get(name, {})
        found = reached[name]
        table.add_row(
            name,
            *(f"{counts.get(outcome, 0):,}" for outcome in (VALID, SLASH, RAISE, EXCEEDED)),
            f"{found.fingerprints:,}",
            _share(found.nodes_reached, found.nodes),
            _share(found.branches_reached, found.branches),
        )
    console.print(table)
    for law, times in sorted(tally.tried.items()):
        broken = sum(n for (name, *_), n in tally.broken.items() if name == law)
        console.print(f"{law}: tried {times:,} times, broken {broken:,}", markup=False)
    every = causes(report)
    for finding, times in every[:SHOWN]:
        console.print(
            f"{finding.severity}: {finding.validator}: {finding.text}"
            f" ({finding.law}, {times} times)",
            markup=False,
        )
        if finding.vector is not None:
            console.print(
                msgspec.json.encode(finding.vector).decode(), markup=False, soft_wrap=True
            )
    if len(every) > SHOWN:
        console.print(f"and {len(every) - SHOWN} more causes")
    console.print(
        f"{report.cases:,} cases in {report.seconds:.1f} s,"
        f" {report.cases / report.seconds:,.0f} cases per second,"
        f" {report.disagreements:,} disagreements{'; interrupted' if report.interrupted else ''}"
    )


def _share(part: int | None, whole: int | None) -> str:
    return "" if part is None or whole is None else f"{part}/{whole}"
