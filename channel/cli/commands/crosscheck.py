"""`channelsim crosscheck`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.cli.campaigns import (
    Cluster,
    Out,
    Resume,
    all_done,
    campaign_directory,
    chosen_workers,
)
from channelsim.channel.cli.findings import ORDER_ONLY
from channelsim.channel.cli.messages import all_tried, never_tried, not_checked
from channelsim.channel.cli.options import (
    MOST_CASES,
    Jobs,
    Json,
    NoProgress,
    Seed,
    TargetName,
    Watch,
    processes,
    refuse,
    whole,
)
from channelsim.channel.cli.watch import Check, Round, watch, watched_target
from channelsim.channel.documents.crosscheck import CrosscheckDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.findings.finding import summary
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.lab.cases.explanation import explanation
from channelsim.channel.lab.cases.runs import OUTCOMES
from channelsim.channel.lab.coverage.coverage import SampledCoverage, sampled_coverage
from channelsim.channel.lab.crosscheck.crosscheck import (
    CrosscheckReport,
    configuration,
    findings,
    plan,
)
from channelsim.channel.lab.crosscheck.crosscheck import crosscheck as run
from channelsim.channel.lab.laws import laws_for, unchecked
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.report.progress import campaign_progress, progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, json_line, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.games.amounts import counted
from channelsim.games.vectors import Case

SHOWN = 12
"""Causes that are printed; the rest are counted."""


def command(
    target: TargetName,
    cases: Annotated[int, whole(1, MOST_CASES, "How many cases.")] = 50_000,
    seed: Seed = "crosscheck",
    jobs: Jobs = None,
    json: Json = False,
    again: Watch = False,
    out: Out = None,
    resume: Resume = False,
    cluster: Cluster = None,
    quiet: NoProgress = False,
) -> int:
    """Compare programs with the rules, on generated hands and mutated moves.

    Exit code 1: a law is broken, a validator was never tried, or a case crashed its worker.

    Example: channelsim crosscheck my-validators.toml --cases 1000000
    """
    if again:
        refuse(
            "does not go with --watch, which prints a line for each round",
            json=json,
            out=out,
            resume=resume,
            cluster=cluster,
        )
        files = watched_target(target)
        return watch(files, lambda check: _round(target, cases, seed, jobs, check))
    loaded = load(target, partial=True)
    loaded.check_playable()
    made = configuration(loaded, cases, seed)
    cut = plan(made, cases)
    with campaign_directory(out, made, cut, "cases", resume=resume) as stored:
        workers = chosen_workers(processes(jobs), cut, cluster, stored=stored is not None)
        finding_files = FindingFiles(None if stored is None else stored.findings)
        with campaign_progress("crosscheck", "case", quiet=quiet) as show:
            report = run(
                loaded,
                cases,
                seed,
                workers=workers,
                journal=stored,
                on_result=lambda tally: finding_files.write(findings(loaded, tally)),
                on_status=show,
            )
        with finishing(), progress("coverage", shown=not quiet):
            reached = sampled_coverage(report.target, report.tally)
        with finishing():
            printed = document(report, reached)
            if stored is not None and not report.interrupted:
                finding_files.write_last(report.findings)
                stored.write_summary(printed)
            if json:
                print_json(printed)
            else:
                _print(report, reached)
            programs, tried = report.target.present, report.tally.outcomes
            every = report.interrupted or all_tried(
                report.target.name, programs, tried, "try more --cases"
            )
            every &= all_done(report.target.name, report.lost, "case")
    return exit_code(report.interrupted, failed=bool(report.findings) or not every)


def _round(target: str, cases: int, seed: str, jobs: int | None, check: Check) -> Round:
    """One round of `--watch`."""
    with progress("crosscheck", "case") as bar:

        def on_status(status: CampaignStatus) -> None:
            check()
            bar(status.work, status.total)

        loaded = load(target, partial=True)
        report = run(loaded, cases, seed, processes(jobs), on_status=on_status)
    every = sorted(report.findings, key=lambda one: one.order_only)
    parts = [f"{counted(report.cases, 'case', ',')}, {summary(every)}"]
    parts += [one.line for one in every[:1]]
    left = never_tried(report.target.present, report.tally.outcomes)
    parts += [left] if left else []
    return Round(1 if every or left else 0, "; ".join(parts), report.interrupted)


def document(report: CrosscheckReport, reached: dict[str, SampledCoverage]) -> CrosscheckDocument:
    """The report as a document."""
    tally = report.tally
    return CrosscheckDocument(
        target=report.target.name,
        rules=report.target.rules,
        dealer=report.target.dealer,
        seed=report.seed,
        cases=report.compared,
        disagreements=report.disagreements,
        seconds=round(report.seconds, 3),
        cases_per_second=round(report.rate),
        interrupted=report.interrupted,
        digest=report.digest,
        shards=report.shards,
        lost=lost_work(report.lost),
        outcomes={name: dict(sorted(found.items())) for name, found in tally.outcomes.items()},
        tried=dict(sorted(tally.tried.items())),
        unchecked=unchecked(report.target),
        most_cost=dict(sorted(tally.costs.items())),
        coverage=reached,
        findings=tuple(report.findings),
    )


def _print(report: CrosscheckReport, reached: dict[str, SampledCoverage]) -> None:
    out = console()
    tally = report.tally
    rows = []
    for name in report.target.present:
        counts: Mapping[str, int] = tally.outcomes.get(name, {})
        found = reached[name]
        cells = [f"{counts.get(end, 0):,}" for end in OUTCOMES]
        shares = ("", "") if found.reached is None else found.reached.shares
        rows.append((name, *cells, f"{found.fingerprints:,}", *shares))
    against = report.target.against
    headings = ("validator", *OUTCOMES, "paths", "nodes", "branches")
    show_table(out, headings, rows, title=f"{report.target.name} against {against}")
    left = unchecked(report.target)
    for law in sorted({law.name for law in laws_for(report.target)}):
        times = tally.tried[law]
        if law in left and not times:
            continue
        broken = sum(n for (name, *_), n in tally.broken.items() if name == law)
        say(out, f"{law}: tried {counted(times, 'time', ',')}, broken {broken:,}")
    for line in not_checked(left):
        say(out, line, "yellow")
    every = sorted(report.findings, key=lambda one: one.order_only)
    apart = False
    for finding in every[:SHOWN]:
        if finding.order_only and not apart:
            apart = True
            say(out, ORDER_ONLY, "bold")
        say(out, f"{finding.line} ({finding.rule}, {counted(finding.times, 'time')})")
        if finding.vector is not None:
            case = msgspec.convert(finding.vector, Case)
            for line in explanation(report.target, case):
                say(out, f"  {line}")
            print(json_line(finding.vector))
    if len(every) > SHOWN:
        say(out, f"and {counted(len(every) - SHOWN, 'more finding')}")
    if report.digest is not None:
        say(out, f"digest    {report.digest}")
    say(
        out,
        f"{counted(report.compared, 'case', ',')} in {report.seconds:.1f} s,"
        f" {counted(round(report.rate), 'case', ',')} per second,"
        f" {summary(report.findings)}"
        f"{'; interrupted' if report.interrupted else ''}",
    )
