"""`channelsim fuzz`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import msgspec
from rich.console import Console

from channelsim.channel.campaign.directory import FINDINGS, is_campaign
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.cli.campaigns import (
    Cluster,
    Resume,
    all_done,
    campaign_directory,
    chosen_workers,
)
from channelsim.channel.cli.corpora import check_fuzzed
from channelsim.channel.cli.findings import ORDER_ONLY, details
from channelsim.channel.cli.messages import all_tried, never_tried, not_checked
from channelsim.channel.cli.options import (
    DAY,
    Jobs,
    Json,
    NoProgress,
    Seed,
    TargetName,
    Watch,
    file_option,
    processes,
    real,
    refuse,
    whole,
)
from channelsim.channel.cli.watch import Check, Round, watch, watched_target
from channelsim.channel.documents.fuzz import FuzzDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding, summary
from channelsim.channel.findings.finding_files import FindingFiles, command_line
from channelsim.channel.lab.cases.runs import OUTCOMES
from channelsim.channel.lab.fuzz.fuzz import (
    FuzzReport,
    counts_so_far,
    run_search,
    save,
    sized_search,
    timed_search,
)
from channelsim.channel.lab.fuzz.fuzz import fuzz as run
from channelsim.channel.lab.laws import applies, laws_for, unchecked
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.junit import JUnitCase, JUnitFailure
from channelsim.channel.report.junit import junit as junit_text
from channelsim.channel.report.progress import campaign_progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.channel.system.output import check_folder, opened
from channelsim.games.amounts import counted

SHOWN = 12
"""Findings that are printed in full; the rest are named."""

LONG, SHORT = 60.0, 10.0
"""Seconds of a run, and of a round of `--watch`, unless `--seconds` says otherwise."""

MOST_WORK = 10**15
"""Units: centuries."""

HOME = Path(".channelsim")
"""The folder of findings in the current folder, unless `--out` names another."""


def command(
    target: TargetName,
    seconds: Annotated[
        float | None,
        real(0.1, 30 * DAY, "Search for about this many seconds (60; with --watch, 10)."),
    ] = None,
    seed: Seed = "fuzz",
    jobs: Jobs = None,
    corpus: Annotated[
        Path | None,
        file_option("A folder of cases to start from; cases that reach more are added."),
    ] = None,
    out: Annotated[
        Path | None,
        file_option(
            "The folder of findings (.channelsim/NAME/findings); stored ones are tried first."
        ),
    ] = None,
    json: Json = False,
    junit: Annotated[Path | None, file_option("Write a JUnit report to this file.")] = None,
    again: Watch = False,
    work: Annotated[
        int | None,
        whole(
            1,
            MOST_WORK,
            "Do this much work instead, in units (a process does about 330,000 a second).",
        ),
    ] = None,
    resume: Resume = False,
    cluster: Cluster = None,
    quiet: NoProgress = False,
) -> int:
    """Fuzz validators for moves that steal and evidence that slashes honest players.

    The same seed and number of jobs repeat a run; with --work, the same seed is enough, and --out
    is the folder of a campaign. Exit code 0: nothing found; 1: findings, each saved in a file, or a
    validator that was never tried; 2: wrong use.

    Example: channelsim fuzz my-validators.toml --seconds 120
    """
    if again:
        refuse(
            "does not go with --watch, which prints a line for each round",
            json=json,
            junit=junit,
            work=work,
        )
        fuzzed = partial(_fuzzed, seconds=seconds or SHORT, seed=seed, jobs=jobs, corpus=corpus)
        return watch(
            watched_target(target),
            lambda check: _round(target, out, corpus, partial(fuzzed, check=check)),
        )
    if work is None:
        refuse(
            "needs --work: a search for some time is not a campaign", resume=resume, cluster=cluster
        )
    else:
        refuse("does not go with --work: one or the other", seconds=seconds)
    loaded = load(target, partial=True)
    if corpus is not None:
        check_fuzzed(corpus, loaded.programs)
    if work is None:
        search = timed_search(loaded, seed, seconds or LONG, processes(jobs), corpus)
    else:
        search = sized_search(loaded, seed, work, corpus)
    campaign = out if work is not None else None
    folder = _folder(loaded, out) if campaign is None else campaign / FINDINGS
    with (
        opened("--junit", junit) as suite,
        campaign_directory(
            campaign, search.configuration, search.plan, "units of work", resume=resume
        ) as stored,
    ):
        files = FindingFiles(folder)
        with campaign_progress(
            f"fuzzing {loaded.name}", "unit", quiet=quiet, clock=search.limit
        ) as show:
            report = run_search(
                search,
                processes(jobs),
                chosen_workers(processes(jobs), search.plan, cluster, stored=stored is not None),
                journal=stored,
                findings=folder if stored is None else None,
                on_found=files.write if stored is not None else lambda found: None,
                on_status=lambda status: show(
                    msgspec.structs.replace(status, counts=counts_so_far(status))
                ),
            )
        with finishing():
            # Findings are printed even where they cannot be saved.
            trouble, added = "", 0
            paths: list[Path] = []
            try:
                paths = files.write_last(report.findings)
                if stored is not None:
                    save(report, stored.corpus)
                    if not report.interrupted:
                        stored.write_summary(_document(report, paths))
                added = save(report, corpus) if corpus else 0
                count = summary(report.findings)
                suite.write(
                    junit_text("fuzz", loaded.name, _junit_cases(report), count, report.seconds)
                )
                suite.finish()
            except UsageError as error:
                trouble = str(error)
            if json:
                print_json(_document(report, paths))
            else:
                _print(report, paths, added, corpus)
    if trouble:
        raise UsageError(trouble)
    every = report.interrupted or all_tried(
        loaded.name,
        loaded.present,
        report.tally.outcomes,
        "try more --seconds" if work is None else "try more --work",
    )
    every &= all_done(loaded.name, report.lost, "unit")
    return exit_code(report.interrupted, failed=bool(report.findings) or not every)


def _folder(target: Target, out: Path | None) -> Path:
    """The folder of a target's findings."""
    folder = out or HOME / _slug(target.name) / "findings"
    if is_campaign(folder):
        raise UsageError(
            f"--out {folder}: the folder of a campaign, whose findings are in {folder / FINDINGS};"
            " name that, or another one"
        )
    check_folder("--out", folder)
    return folder


def _fuzzed(
    target: Target,
    folder: Path,
    seconds: float,
    seed: str,
    jobs: int | None,
    corpus: Path | None,
    check: Check,
) -> FuzzReport:
    """A round of `--watch`, with a progress line; `check` is called now and then."""
    with campaign_progress(f"fuzzing {target.name}", "unit", clock=seconds) as show:

        def on_status(status: CampaignStatus) -> None:
            check()
            show(msgspec.structs.replace(status, counts=counts_so_far(status)))

        return run(
            target,
            seconds=seconds,
            seed=seed,
            jobs=processes(jobs),
            corpus=corpus,
            findings=folder,
            on_status=on_status,
        )


def _round(
    name: str,
    out: Path | None,
    corpus: Path | None,
    fuzzed: Callable[[Target, Path], FuzzReport],
) -> Round:
    """One round of `--watch`: the stored findings first, then the search."""
    target = load(name, partial=True)
    if corpus is not None:
        check_fuzzed(corpus, target.programs)
    folder = _folder(target, out)
    report = fuzzed(target, folder)
    parts = [summary(report.findings)]
    with finishing():
        paths = FindingFiles(folder).write_last(report.findings)
        if corpus is not None:
            save(report, corpus)
    for one, path in zip(report.findings[:1], paths, strict=False):
        line = f" ({one.source_line})" if one.source_line else ""
        parts[0] += f", the first: {one.severity} at {one.place}: {one.cause}{line}"
        parts.append(command_line("replay", path))
    if report.mended:
        parts.append(f"{counted(len(report.mended), 'finding')} no longer happening")
    parts.append(counted(report.runs, "run", ","))
    left = never_tried(target.present, report.tally.outcomes)
    parts += [left] if left else []
    return Round(1 if report.findings or left else 0, "; ".join(parts), report.interrupted)


# --- output -----------------------------------------------------------------------------------


def _print(report: FuzzReport, paths: Sequence[Path], added: int, corpus: Path | None) -> None:
    out = console()
    _show_counts(out, report)
    for line in not_checked(unchecked(report.target)):
        say(out, line, "yellow")
    if report.target.missing:
        say(out, f"tried by the rules alone: {_tried_alone(report)}")
    for one in report.mended:
        say(out, f"{one}: no longer happens")
    for one, why in report.untried:
        say(out, f"{one}: cannot be tried: {why}")
    apart = False
    for number, (found, path) in enumerate(zip_longest(report.findings, paths), 1):
        say(out)
        if found.order_only and not apart:
            apart = True
            say(out, ORDER_ONLY, "bold")
            say(out)
        say(out, f"{number}. {found.line}", "bold")
        if number > SHOWN:
            continue
        for line in details(found):
            say(out, f"   {line}")
        if path is not None:
            for command in ("replay", "trace"):
                say(out, f"   {command_line(command, path)}")
    say(out)
    if corpus is not None:
        say(out, f"{counted(added, 'new case')} in {corpus}")
    say(out, _summary(report))


def _tried_alone(report: FuzzReport) -> str:
    """The laws that need no program, and how often each was tried."""
    target = report.target
    alone = [one.name for one in laws_for(target) if applies(one, target, target.missing[0])]
    return ", ".join(f"{name} {counted(report.tally.tried[name], 'time', ',')}" for name in alone)


def _summary(report: FuzzReport) -> str:
    nodes = sum(one.nodes for one in report.coverage.values())
    reached = sum(one.nodes_reached for one in report.coverage.values())
    branches = sum(one.branches for one in report.coverage.values())
    sides = sum(one.branches_reached for one in report.coverage.values())
    early = "; interrupted" if report.interrupted else ""
    rate = round(report.rate)
    return (
        f"{counted(report.runs, 'run', ',')} in {report.seconds:.1f} s,"
        f" {counted(rate, 'run', ',')} per second,"
        f" nodes {reached} of {nodes}, branches {sides} of {branches},"
        f" {summary(report.findings)}{early}"
    )


def _show_counts(out: Console, report: FuzzReport) -> None:
    rows = []
    for name, one in report.coverage.items():
        counts: Mapping[str, int] | None = report.tally.outcomes.get(name)
        cells = ["" if counts is None else f"{counts.get(end, 0):,}" for end in OUTCOMES]
        rows.append((name, *cells, *one.shares))
    against = report.target.against
    headings = ("program", *OUTCOMES, "nodes", "branches")
    show_table(out, headings, rows, title=f"{report.target.name} against {against}")


def _document(report: FuzzReport, paths: Sequence[Path]) -> FuzzDocument:
    """The report as a document."""
    return FuzzDocument(
        target=report.target.name,
        rules=report.target.rules,
        dealer=report.target.dealer,
        seed=report.seed,
        jobs=report.jobs,
        seconds=round(report.seconds, 3),
        stopped=report.stopped,
        interrupted=report.interrupted,
        digest=report.digest,
        shards=report.shards,
        lost=lost_work(report.lost),
        runs=report.runs,
        runs_per_second=round(report.rate),
        coverage=report.coverage,
        tried=dict(sorted(report.tally.tried.items())),
        unchecked=unchecked(report.target),
        findings=tuple(
            msgspec.structs.replace(found, replay=command_line("replay", path) if path else "")
            for found, path in zip_longest(report.findings, paths)
        ),
        mended=tuple(map(str, report.mended)),
    )


def _junit_cases(report: FuzzReport) -> list[JUnitCase]:
    """One test case per law, with a failure for each of its findings."""
    return [
        JUnitCase(law.name, [_failure(one) for one in report.findings if one.rule == law.name])
        for law in laws_for(report.target)
    ]


def _failure(found: Finding) -> JUnitFailure:
    text = "\n".join((found.line, *details(found), found.pytest))
    return JUnitFailure(found.line, text, found.severity)


def _slug(name: str) -> str:
    """A folder name for a target, different for different targets and without separators."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    plain = slug == name.lower().replace(" ", "-")
    return slug if plain else f"{slug or 'target'}-{sha256(name.encode()).hexdigest()[:8]}"
