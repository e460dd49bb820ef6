"""`channelsim conform`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from inspect import getdoc
from pathlib import Path
from typing import Annotated

from rich.text import Text

from channelsim.channel.cli.options import (
    DAY,
    MOST_CASES,
    Jobs,
    Json,
    Seed,
    TargetName,
    file_option,
    processes,
    real,
    whole,
)
from channelsim.channel.kit.checks import CHECKS
from channelsim.channel.kit.conformance import (
    INTERRUPTED,
    CheckResult,
    Effort,
    Status,
    Subject,
    conform,
)
from channelsim.channel.kit.conformance_reports import document, junit_cases, sarif
from channelsim.channel.lab.target.target import load
from channelsim.channel.report.junit import junit
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, json_line, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.channel.system.output import opened

SHOWN = 12
"""Failures of one check that are printed; the rest are counted."""


def command(
    target: TargetName,
    cases: Annotated[int, whole(10, MOST_CASES, "How many cases, of laws and costs.")] = 5000,
    seconds: Annotated[float, real(0.1, DAY, "About how long to fuzz, in seconds.")] = 10.0,
    disputes: Annotated[
        int, whole(0, 100, "How many deviations of each adversary; 0: no disputes.")
    ] = 1,
    coverage: Annotated[int, whole(0, 100, "Percent of branches to be reached.")] = 100,
    corpus: Annotated[Path | None, file_option("A folder of cases to start from.")] = None,
    costs: Annotated[
        Path | None, file_option("Costs by `channelsim cost --write`; none may be higher.")
    ] = None,
    seed: Seed = "conform",
    jobs: Jobs = None,
    json: Json = False,
    junit_file: Annotated[
        Path | None, file_option("Write a JUnit report to this file.", "--junit")
    ] = None,
    sarif_file: Annotated[
        Path | None, file_option("Write a SARIF report to this file.", "--sarif")
    ] = None,
) -> int:
    """Check everything that a game owes: vectors, laws, coverage, costs, secrecy, disputes.

    What cannot be checked of a target is a row that says why. Exit code 1: a check failed.

    Example: channelsim conform my-validators.toml --junit conform.xml
    """
    effort = Effort(
        cases=cases,
        seconds=seconds,
        disputes=disputes,
        coverage=coverage,
        corpus=corpus,
        costs=costs,
        seed=seed,
        jobs=processes(jobs),
    )
    with opened("--junit", junit_file) as tests, opened("--sarif", sarif_file) as log:
        with progress("conformance") as bar:
            subject = Subject(load(target, partial=True), effort)
            results = list(conform(subject, CHECKS, bar.phase))
        with finishing():
            name = subject.target.name
            abouts = {check: (getdoc(CHECKS[check]) or "") for check in CHECKS}
            tests.write(junit("conform", name, junit_cases(results)))
            log.write(sarif(subject.target.source, results, abouts))
            tests.finish()
            log.finish()
            if json:
                print_json({**document(name, results), "dealer": subject.target.dealer})
            else:
                _print(name + subject.target.cards, results)
    failed = any(result.status is Status.FAILED for result in results)
    interrupted = any(result.unchecked == INTERRUPTED for result in results)
    return exit_code(interrupted, failed)


def _print(name: str, results: Sequence[CheckResult]) -> None:
    out = console()
    rows = []
    for result in results:
        style = {Status.PASSED: "", Status.FAILED: "red", Status.NOT_CHECKED: "dim"}[result.status]
        rows.append(
            (result.check, Text(result.status.value, style), result.unchecked or result.tried)
        )
    show_table(out, ("check", "result", "tried"), rows, title=f"what {name} owes", left=3)
    for result in results:
        for failure in result.failures[:SHOWN]:
            say(out, f"{result.check}: {failure.text}")
            if failure.source_line:
                say(out, f"source: {failure.source_line}")
            if failure.case is not None:
                print(json_line(failure.case))
        if len(result.failures) > SHOWN:
            say(out, f"{result.check}: and {len(result.failures) - SHOWN} more")
    counts = Counter(result.status for result in results)
    say(out, ", ".join(f"{counts[status]} {status.value}" for status in Status))
