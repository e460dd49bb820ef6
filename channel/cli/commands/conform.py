"""`channelsim conform`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from inspect import getdoc
from pathlib import Path
from typing import Annotated

from rich.text import Text

from channelsim.channel.campaign.directory import is_campaign
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.shards import Configuration, Plan
from channelsim.channel.cli.campaigns import (
    Cluster,
    Out,
    Resume,
    campaign_directory,
    chosen_workers,
)
from channelsim.channel.cli.options import (
    DAY,
    MOST_CASES,
    Jobs,
    Json,
    NoProgress,
    Seed,
    TargetName,
    file_option,
    processes,
    real,
    whole,
)
from channelsim.channel.documents.conform import ConformDocument, Status
from channelsim.channel.kit.checks import CHECKS
from channelsim.channel.kit.conformance import (
    INTERRUPTED,
    CampaignPlace,
    Effort,
    Subject,
    conform,
)
from channelsim.channel.kit.conformance_campaign import (
    conform_configuration,
    conform_digest,
    conform_plan,
    resumed,
)
from channelsim.channel.kit.conformance_reports import document, junit_cases, sarif
from channelsim.channel.lab.cases.corpus import own_corpus
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.report.junit import junit
from channelsim.channel.report.progress import Bar, campaign_progress, progress, status_text
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, json_line, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.channel.system.output import opened
from channelsim.games.amounts import plural

FUZZERS = 2
"""Fuzzers that work at the same time, where there are so many processes."""

SHOWN = 12
"""Failures of one check that are printed; the rest are counted."""


def command(
    target: TargetName,
    cases: Annotated[
        int, whole(10, MOST_CASES, "How many cases to try, for the laws and for the costs.")
    ] = 5000,
    seconds: Annotated[
        float, real(0.1, DAY, "About how many seconds each of two fuzzers works.")
    ] = 10.0,
    disputes: Annotated[
        int, whole(0, 100, "How many deviations of each adversary to try; 0: no disputes.")
    ] = 1,
    coverage: Annotated[
        int, whole(0, 100, "The percentage of branches that must be reached.")
    ] = 100,
    corpus: Annotated[
        Path | None, file_option("A folder of cases to start from (that of the game's package).")
    ] = None,
    costs: Annotated[
        Path | None,
        file_option("A file written by `channelsim cost --write`; no cost may be higher."),
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
    out: Out = None,
    resume: Resume = False,
    cluster: Cluster = None,
    quiet: NoProgress = False,
) -> int:
    """Check everything that a game owes: vectors, laws, coverage, costs, secrecy, disputes.

    A check that cannot be made is a row that says why. Exit code 1: a check failed.

    Example: channelsim conform my-validators.toml --junit conform.xml
    """
    with progress("conformance", shown=not quiet):
        loaded = load(target, partial=True)
    effort = Effort(
        cases=cases,
        seconds=seconds,
        fuzzers=FUZZERS,
        disputes=disputes,
        coverage=coverage,
        corpus=corpus or own_corpus(loaded),
        costs=costs,
        seed=seed,
        jobs=processes(jobs),
    )
    made = conform_configuration(loaded, effort)
    cut = conform_plan(made, CHECKS)
    with (
        opened("--junit", junit_file) as tests,
        opened("--sarif", sarif_file) as log,
        campaign_directory(out, made, cut, "checks", resume=resume) as stored,
    ):
        with progress("conformance", shown=not quiet) as bar:
            place = partial(_place, bar, out, cluster, effort.jobs, quiet=quiet)
            checks = CHECKS if stored is None else resumed(CHECKS, cut, stored)
            subject = Subject(loaded, effort, place)
            results = list(conform(subject, checks, bar.phase))
        interrupted = any(result.unchecked == INTERRUPTED for result in results)
        with finishing():
            name = loaded.name
            abouts = {check: (getdoc(CHECKS[check]) or "") for check in CHECKS}
            printed = document(loaded, seed, results, conform_digest(made, results))
            tests.write(junit("conform", name, junit_cases(results), printed.summary))
            log.write(sarif(loaded.source, results, abouts))
            tests.finish()
            log.finish()
            if stored is not None and not interrupted:
                stored.write_summary(printed)
            if json:
                print_json(printed)
            else:
                _print(name + loaded.cards, printed)
    failed = any(result.result is Status.FAILED for result in results)
    return exit_code(interrupted, failed)


@contextmanager
def _place(
    bar: Bar,
    out: Path | None,
    cluster: str | None,
    jobs: int,
    name: str,
    configuration: Configuration,
    plan: Plan,
    unit: str,
    *,
    quiet: bool,
) -> Iterator[CampaignPlace]:
    """Open the campaign of a check, in a folder of its own inside that of the conformance."""
    folder = None if out is None else out / name
    resume = folder is not None and is_campaign(folder)
    with campaign_directory(folder, configuration, plan, plural(unit), resume=resume) as stored:
        workers = chosen_workers(jobs, plan, cluster, stored=stored is not None)
        if bar.live:

            def show(status: CampaignStatus) -> None:
                bar(status.work, status.total, status_text(status, unit))

            yield CampaignPlace(workers, stored, show)
        else:
            with campaign_progress(name, unit, quiet=quiet) as on_status:
                yield CampaignPlace(workers, stored, on_status)


def _print(name: str, printed: ConformDocument) -> None:
    out, results = console(), printed.checks
    rows = []
    for result in results:
        style = {Status.PASSED: "", Status.FAILED: "red", Status.NOT_CHECKED: "dim"}[result.result]
        rows.append(
            (result.check, Text(result.result.value, style), result.unchecked or result.tried)
        )
    show_table(out, ("check", "result", "tried"), rows, title=f"what {name} owes", left=3)
    for result in results:
        for failure in result.failures[:SHOWN]:
            say(out, f"{result.check}: {failure.line}")
            if failure.replay:
                say(out, failure.replay)
            if failure.source_line:
                say(out, f"source: {failure.source_line}")
            if failure.vector is not None:
                print(json_line(failure.vector))
        if len(result.failures) > SHOWN:
            say(out, f"{result.check}: and {len(result.failures) - SHOWN} more")
    counts = Counter(result.result for result in results)
    statuses = ", ".join(f"{counts[status]} {status.value}" for status in Status)
    say(out, f"{statuses}; {printed.summary}")
