"""The work of `channelsim conform`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import getdoc
from pathlib import Path

from rich.text import Text

from channelsim.channel.campaign.directory import FINDINGS
from channelsim.channel.cli.campaigns import (
    Ending,
    Places,
)
from channelsim.channel.cli.check_reports import Checked, CheckReport
from channelsim.channel.cli.commands.conform import ConformOptions
from channelsim.channel.cli.findings import next_steps
from channelsim.channel.cli.options import (
    processes,
)
from channelsim.channel.cli.targets import load_target
from channelsim.channel.documents.conform import (
    CheckResult,
    ConformDocument,
    Status,
    mistakes,
)
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import file_name
from channelsim.channel.kit.checks import CHECKS
from channelsim.channel.kit.conformance import (
    INTERRUPTED,
    Check,
    ConformanceWork,
    Effort,
    Subject,
    conform,
    conform_configuration,
    conform_digest,
    resumed,
)
from channelsim.channel.kit.conformance_reports import document
from channelsim.channel.kit.not_reached import not_reached
from channelsim.channel.kit.proofs import own_proofs
from channelsim.channel.lab.cases.corpus import own_corpus
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.progress import (
    Bar,
    StatusLine,
    campaign_progress,
    progress,
)
from channelsim.channel.report.tables import GrowingTable
from channelsim.channel.report.terminal import console, say
from channelsim.games.amounts import counted

FUZZERS = 2
"""Fuzzers that work at the same time, where there are so many processes."""

SHOWN = 12
"""Mistakes of one check that are printed; the rest are counted."""


def conform_target(options: ConformOptions) -> int:
    """Check everything that a game owes, and print a line for each check."""
    campaign = options.campaign
    with progress("conformance", shown=not campaign.quiet):
        loaded = load_target(options.target)
    effort = Effort(
        cases=options.cases,
        seconds=options.seconds,
        fuzzers=FUZZERS,
        disputes=options.disputes,
        coverage=options.coverage,
        corpus=options.corpus or own_corpus(loaded),
        costs=options.costs,
        proofs=options.proofs or own_proofs(loaded),
        seed=options.seed,
        jobs=processes(campaign.jobs),
    )
    work = ConformanceWork(conform_configuration(loaded, effort), len(CHECKS))
    with Places(campaign) as places:
        stored = places.directory(work)
        checks = CHECKS if stored is None else resumed(CHECKS, work.plan, stored)
        subject = Subject(loaded, effort, places)
        rows = None if campaign.json else _table(loaded)
        results = []
        for result in _results(subject, checks, places, quiet=campaign.quiet):
            results.append(result)
            if rows is not None:
                rows.add(result.check, _styled(result.result), result.unchecked or result.tried)

        interrupted = any(result.unchecked == INTERRUPTED for result in results)
        missed = [] if campaign.json or interrupted else not_reached(subject)

        digest = partial(conform_digest, work.configuration, results)
        ending = Ending(
            name=loaded.name,
            document=lambda: document(loaded, options.seed, results, digest()),
            show=lambda printed: _print(printed, missed, campaign.out),
            report=lambda printed: _check_report(loaded, printed),
        )
        return places.end(
            ending,
            interrupted=interrupted,
            failed=any(result.result is Status.FAILED for result in results),
        )


def _check_report(target: Target, printed: ConformDocument) -> CheckReport:
    """The checks, with what each is about."""
    return CheckReport(
        command="conform",
        target=target.name,
        source=target.source,
        checks=[
            Checked(
                result.check, result.failures, result.unchecked, getdoc(CHECKS[result.check]) or ""
            )
            for result in printed.checks
        ],
        summary=printed.summary,
        mistakes=[(mistake.checks[-1], mistake.finding) for mistake in mistakes(printed.checks)],
    )


def _results(
    subject: Subject, checks: Mapping[str, Check], places: Places, *, quiet: bool
) -> Iterator[CheckResult]:
    """The result of each check as soon as it is made; the progress line is gone by then."""
    bars: list[Bar] = []
    checked = conform(subject, checks, lambda name: bars[-1].phase(name))
    while True:
        with progress("conformance", shown=not quiet) as bar:
            bars.append(bar)
            places.progress = partial(_progress, bar, quiet=quiet)
            result = next(checked, None)
        if result is None:
            return
        yield result


def _table(target: Target) -> GrowingTable:
    """The table of all results, without a row so far."""
    widest = [max(CHECKS, key=len), max((status.value for status in Status), key=len)]
    title = f"what {target.name}{target.cards} owes"
    return GrowingTable(console(), ("check", "result", "tried"), widest, title)


def _styled(status: Status) -> Text:
    style = {Status.PASSED: "", Status.FAILED: "red", Status.NOT_CHECKED: "dim"}[status]
    return Text(status.value, style)


@contextmanager
def _progress(bar: Bar, name: str, unit: str, *, quiet: bool) -> Iterator[StatusLine]:
    """The progress of a check's campaign: on the line of all checks, or its own."""
    if bar.live:
        yield StatusLine(bar, unit)
    else:
        with campaign_progress(name, unit, quiet=quiet) as line:
            yield line


def _file_of(finding: Finding, folder: Path | None) -> Path | None:
    """The file of a finding that a check's campaign stored inside the folder of the command."""
    name = file_name(finding)
    stored = () if folder is None else sorted(folder.glob(f"*/{FINDINGS}/{name}"))
    return next(iter(stored), None)


def _print(printed: ConformDocument, missed: Sequence[str], folder: Path | None) -> None:
    """Print the mistakes below the table, what was not reached (`missed`), and the sums.

    The findings of a campaign of the command are files in its folder.
    """
    out, results = console(), printed.checks
    shown: Counter[str] = Counter()
    for checks, finding, others in mistakes(results):
        shown[checks[0]] += 1
        if shown[checks[0]] > SHOWN:
            continue
        say(out, f"{', '.join(checks)}: {finding.line}")
        if others:
            say(out, f"  {counted(others, 'other case')} of the same mistake")
        source = finding.source_line or finding.missing_check
        if source:
            say(out, f"  source: {source}")
        path = _file_of(finding, folder)
        for line in next_steps(finding, path) if path else filter(None, (finding.replay,)):
            say(out, f"  {line}")
    for check, number in shown.items():
        if number > SHOWN:
            say(out, f"{check}: and {number - SHOWN} more")
    if folder is None and any(mistake.finding.vector for mistake in mistakes(results)):
        say(out, "with --out DIR, findings are stored as files for `view` and `debug`")
    for line in missed:
        say(out, f"not reached: {line}", "yellow")
    counts = Counter(result.result for result in results)
    statuses = ", ".join(f"{counts[status]} {status.value}" for status in Status)
    say(out, f"{statuses}; {printed.summary}")
