"""The work of `channelsim fuzz`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
from rich.console import Console

from channelsim.channel.campaign.directory import CORPUS, FINDINGS, is_campaign
from channelsim.channel.cli.campaigns import Ending, run_campaign, run_watched
from channelsim.channel.cli.check_reports import CheckReport, by_rule
from channelsim.channel.cli.commands.fuzz import FuzzOptions
from channelsim.channel.cli.corpora import check_fuzzed, in_package
from channelsim.channel.cli.findings import ORDER_ONLY, details, next_steps
from channelsim.channel.cli.messages import never_tried, not_checked, untried, withheld
from channelsim.channel.cli.options import (
    processes,
)
from channelsim.channel.cli.targets import load_target, stored_folder
from channelsim.channel.cli.watch import Check, Round, watch, watched_target
from channelsim.channel.documents.fuzz import FuzzDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import summary
from channelsim.channel.findings.finding_files import FindingFiles, command_line
from channelsim.channel.lab.cases.runs import OUTCOMES, SECOND
from channelsim.channel.lab.fuzz.fuzz import (
    FuzzReport,
    save,
    sized_search,
    timed_search,
)
from channelsim.channel.lab.laws import Needs, applies, laws_for, unchecked
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, say
from channelsim.channel.system.interrupt import finishing
from channelsim.channel.system.output import check_folder
from channelsim.games.amounts import counted

SHOWN = 12
"""Findings that are printed in full; the rest are named."""

LONG, SHORT = 60.0, 10.0
"""Seconds of a run, and of a round of `--watch`, unless `--seconds` says otherwise."""

NO_LIES = (
    "no illegal hidden value was tried: recorded moves have to show the declared ones, which must"
    " all have one length"
)
"""The warning where declared values cannot be found in recorded play."""

MORE = 10
"""The factor of the work to try if a validator was never tried."""


def fuzz(options: FuzzOptions) -> int:
    """Fuzz validators for moves that steal and evidence that slashes honest players."""
    seconds, work = options.seconds, options.work
    if options.again:
        return watch(watched_target(options.target), lambda check: _round(options, check))
    loaded = load_target(options.target)
    if options.corpus is not None:
        check_fuzzed(options.corpus, loaded.programs)
    if work is None:
        search = timed_search(
            loaded, options.seed, seconds or LONG, processes(options.campaign.jobs), options.corpus
        )
    else:
        search = sized_search(loaded, options.seed, work, options.corpus)
    # A search for some time is no campaign: its folder has findings only, which are tried first.
    out = options.campaign.out
    campaign = out if work is not None else None
    folder = _folder(loaded, out) if campaign is None else campaign / FINDINGS
    search = replace(search, findings=folder if campaign is None else None)
    hint = (
        f"try --seconds {MORE * (seconds or LONG):.12g}"
        if work is None
        else f"try --work {max(MORE * work, MORE * SECOND)}"
    )
    adds = options.corpus is not None and (
        options.update_corpus or not in_package(options.corpus, loaded)
    )
    added: list[int] = []

    def store(report: FuzzReport) -> None:
        """Store findings and corpora."""
        if campaign is None:
            FindingFiles(folder).write_last(report.findings)
            if out is None:
                _keep_corpus(report, stored_folder(loaded) / CORPUS)
        else:
            save(report, campaign / CORPUS)
        added.append(save(report, options.corpus, write=adds) if options.corpus else 0)

    return run_campaign(
        search,
        replace(options.campaign, out=campaign),
        f"fuzzing {loaded.name}",
        lambda report: Ending(
            name=loaded.name,
            document=lambda: _document(report, processes(options.campaign.jobs), folder),
            show=lambda printed: _print(report, folder, sum(added), options.corpus, adds),
            store=lambda printed: store(report),
            report=lambda printed: _check_report(report, printed),
            untried=lambda: report.failed or _untried(report, hint),
        ),
        clock=search.limit,
    )


def _keep_corpus(report: FuzzReport, folder: Path) -> None:
    """Store the cases that reach new code, for `coverage`, instead of those of earlier runs."""
    for earlier in folder.glob("*.jsonl"):
        earlier.unlink(missing_ok=True)
    save(report, folder)


def _folder(target: Target, out: Path | None) -> Path:
    """The folder of a target's findings."""
    folder = out or stored_folder(target) / FINDINGS
    if is_campaign(folder):
        raise UsageError(
            f"--out {folder}: the folder of a campaign, whose findings are in {folder / FINDINGS};"
            " name that, or another one"
        )
    check_folder("--out", folder)
    return folder


def _round(options: FuzzOptions, check: Check) -> Round:
    """One round of `--watch`: the stored findings first, then the search."""
    target, corpus = load_target(options.target), options.corpus
    if corpus is not None:
        check_fuzzed(corpus, target.programs)
    folder = _folder(target, options.campaign.out)
    workers, seconds = processes(options.campaign.jobs), options.seconds or SHORT
    search = timed_search(target, options.seed, seconds, workers, corpus)
    search = replace(search, findings=folder)
    report = run_watched(search, workers, f"fuzzing {target.name}", check, clock=seconds)
    parts = [summary(report.findings)]
    with finishing():
        paths = FindingFiles(folder).write_last(report.findings)
        if corpus is not None:
            adds = options.update_corpus or not in_package(corpus, target)
            save(report, corpus, write=adds)
    for first, path in zip(report.findings[:1], paths, strict=False):
        line = f" ({first.source_line})" if first.source_line else ""
        parts[0] += f", the first: {first.severity} at {first.place}: {first.cause}{line}"
        parts.append(command_line("replay", path))
    if report.mended:
        parts.append(f"{counted(len(report.mended), 'finding')} no longer happening")
    parts.append(counted(report.runs, "run"))
    left = report.failed or never_tried(target.present, report.tally.outcomes)
    parts += [left] if left else []
    return Round(1 if report.findings or left else 0, "; ".join(parts), report.interrupted)


# --- output -----------------------------------------------------------------------------------


def _print(report: FuzzReport, folder: Path, new: int, corpus: Path | None, adds: bool) -> None:
    out = console()
    paths = FindingFiles(folder).paths(report.findings)
    _show_counts(out, report)
    for line in not_checked(unchecked(report.target)):
        say(out, line, "yellow")
    if report.target.missing:
        say(out, f"tried by the rules alone: {_tried_alone(report)}")
    tried = report.tally.tried
    if any(law.needs is Needs.HIDDEN and not tried[law.name] for law in laws_for(report.target)):
        say(out, NO_LIES, "yellow")
    say(out, withheld(report.tally.unreached))
    for path in report.mended:
        say(out, f"{path}: no longer happens")
    for path, why in report.untried:
        say(out, f"{path}: cannot be tried: {why}")
    apart = False
    for number, (finding, path) in enumerate(zip(report.findings, paths, strict=True), 1):
        say(out)
        if finding.order_only and not apart:
            apart = True
            say(out, ORDER_ONLY, "bold")
            say(out)
        say(out, f"{number}. {finding.line}", "bold")
        if number > SHOWN:
            continue
        for line in details(finding):
            say(out, f"   {line}")
        for line in next_steps(finding, path):
            say(out, f"   {line}")
    say(out)
    if corpus is not None:
        kept = "" if adds else ", none added: it is in a package (--update-corpus adds them)"
        say(out, f"{counted(new, 'new case')} {'in' if adds else 'for'} {corpus}{kept}")
    say(out, _summary(report))


def _tried_alone(report: FuzzReport) -> str:
    """The laws that need no program, and how often each was tried."""
    target = report.target
    alone = [law.name for law in laws_for(target) if applies(law, target, target.missing[0])]
    return ", ".join(f"{name} {counted(report.tally.tried[name], 'time')}" for name in alone)


def _untried(report: FuzzReport, hint: str) -> str:
    """The programs that were not tried, with a hint; "" for none."""
    target, tried = report.target, report.tally.outcomes
    recorded = {case.validator for case in target.honest}
    if target.rules is None and recorded.isdisjoint({*target.present} - tried.keys()):
        hint = "no recorded hand comes there"
    return untried(target.present, tried, hint)


def _summary(report: FuzzReport) -> str:
    coverage = report.coverage.values()
    nodes = sum(counts.nodes for counts in coverage)
    reached = sum(counts.nodes_reached for counts in coverage)
    branches = sum(counts.branches for counts in coverage)
    sides = sum(counts.branches_reached for counts in coverage)
    early = "; interrupted" if report.interrupted else ""
    rate = round(report.rate)
    return (
        f"{counted(report.runs, 'run')} in {report.seconds:.1f} s,"
        f" {counted(rate, 'run')} per second,"
        f" nodes {reached} of {nodes}, branches {sides} of {branches},"
        f" {summary(report.findings)}{early}"
    )


def _show_counts(out: Console, report: FuzzReport) -> None:
    rows = []
    for name, coverage in report.coverage.items():
        counts: Mapping[str, int] | None = report.tally.outcomes.get(name)
        cells = ["" if counts is None else f"{counts.get(end, 0):,}" for end in OUTCOMES]
        rows.append((name, *cells, *coverage.shares))
    against = report.target.against
    headings = ("program", *OUTCOMES, "nodes", "branches")
    show_table(out, headings, rows, title=f"{report.target.name} against {against}")


def _document(report: FuzzReport, jobs: int, folder: Path) -> FuzzDocument:
    """The report as a document, with the commands that try its findings again."""
    paths = FindingFiles(folder).paths(report.findings)
    return FuzzDocument(
        target=report.target.name,
        rules=report.target.rules,
        dealer=report.target.dealer,
        seed=report.seed,
        jobs=jobs,
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
        unreached=report.tally.unreached,
        unchecked=unchecked(report.target),
        findings=tuple(
            msgspec.structs.replace(finding, replay=command_line("replay", path))
            for finding, path in zip(report.findings, paths, strict=True)
        ),
        mended=tuple(map(str, report.mended)),
    )


def _check_report(report: FuzzReport, printed: FuzzDocument) -> CheckReport:
    """A check for each law; one for stored cases that do not hold."""
    target = report.target
    return CheckReport(
        command="fuzz",
        target=target.name,
        source=target.source,
        checks=by_rule([law.name for law in laws_for(target)], printed.findings),
        summary=printed.summary,
        seconds=report.seconds,
    )
