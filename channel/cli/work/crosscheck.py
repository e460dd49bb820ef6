"""The work of `channelsim crosscheck`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from channelsim.channel.campaign.directory import FINDINGS
from channelsim.channel.cli.campaigns import (
    Ending,
    run_campaign,
    run_watched,
)
from channelsim.channel.cli.check_reports import CheckReport, by_rule
from channelsim.channel.cli.commands.crosscheck import CrosscheckOptions
from channelsim.channel.cli.findings import ORDER_ONLY, next_steps
from channelsim.channel.cli.messages import never_tried, not_checked, untried, withheld
from channelsim.channel.cli.options import (
    processes,
)
from channelsim.channel.cli.targets import load_target
from channelsim.channel.cli.watch import Check, Round, watch, watched_target
from channelsim.channel.documents.crosscheck import CrosscheckDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.findings.finding import Finding, summary
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.lab.cases.explanation import explanation, with_source
from channelsim.channel.lab.cases.runs import OUTCOMES
from channelsim.channel.lab.coverage.coverage import sampled_coverage
from channelsim.channel.lab.crosscheck.crosscheck import CrosscheckReport, crosscheck_of
from channelsim.channel.lab.laws import laws_for, unchecked
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.games.amounts import counted
from channelsim.games.vectors import Case

MORE = 10
"""The factor of the cases to try if a validator was never tried."""

SHOWN = 12
"""Causes that are printed; the rest are counted."""


def crosscheck(options: CrosscheckOptions) -> int:
    """Compare programs with the rules, on generated hands and mutated moves."""
    campaign, cases = options.campaign, options.cases
    if options.again:
        return watch(watched_target(options.target), lambda check: _round(options, check))
    loaded = load_target(options.target)
    files = FindingFiles(None if campaign.out is None else campaign.out / FINDINGS)
    return run_campaign(
        crosscheck_of(loaded, cases, options.seed),
        campaign,
        "crosscheck",
        lambda report: Ending(
            name=loaded.name,
            document=lambda: document(report, quiet=campaign.quiet),
            show=lambda printed: _print(report, printed, files),
            report=lambda printed: _check_report(report, printed),
            untried=lambda: untried(
                loaded.present, report.tally.outcomes, f"try --cases {MORE * cases}"
            ),
        ),
    )


def _round(options: CrosscheckOptions, check: Check) -> Round:
    """One round of `--watch`."""
    loaded, jobs = load_target(options.target), processes(options.campaign.jobs)
    tried = crosscheck_of(loaded, options.cases, options.seed)
    report = run_watched(tried, jobs, "crosscheck", check)
    shown = _shown_first(report.findings)
    parts = [f"{counted(report.cases, 'case')}, {summary(shown)}"]
    parts += [finding.line for finding in shown[:1]]
    left = never_tried(loaded.present, report.tally.outcomes)
    parts += [left] if left else []
    return Round(1 if shown or left else 0, "; ".join(parts), report.interrupted)


def _shown_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in the order in which they are shown."""
    return sorted(findings, key=lambda finding: finding.order_only)


def document(report: CrosscheckReport, *, quiet: bool) -> CrosscheckDocument:
    """The report as a document, with the coverage of its runs."""
    tally = report.tally
    with progress("coverage", shown=not quiet):
        reached = sampled_coverage(report.target, tally)
    return CrosscheckDocument(
        target=report.target.name,
        rules=report.target.rules,
        dealer=report.target.dealer,
        seed=report.seed,
        cases=report.compared,
        disagreements=tally.broken("verdicts agree"),
        seconds=round(report.seconds, 3),
        cases_per_second=round(report.rate),
        interrupted=report.interrupted,
        digest=report.digest,
        shards=report.shards,
        lost=lost_work(report.lost),
        outcomes={name: dict(sorted(ends.items())) for name, ends in tally.outcomes.items()},
        tried=dict(sorted(tally.tried.items())),
        unreached=tally.unreached,
        unchecked=unchecked(report.target),
        most_cost=dict(sorted(tally.costs.items())),
        coverage=reached,
        findings=tuple(report.findings),
    )


def _check_report(report: CrosscheckReport, printed: CrosscheckDocument) -> CheckReport:
    """A check for each law."""
    target = report.target
    return CheckReport(
        command="crosscheck",
        target=target.name,
        source=target.source,
        checks=by_rule(
            [law.name for law in laws_for(target)],
            [with_source(target, finding) for finding in _shown_first(report.findings)],
        ),
        summary=printed.summary,
        seconds=report.seconds,
    )


def _print(report: CrosscheckReport, printed: CrosscheckDocument, files: FindingFiles) -> None:
    out = console()
    target, tally = report.target, report.tally
    rows = []
    for name in target.present:
        counts: Mapping[str, int] = tally.outcomes.get(name, {})
        coverage = printed.coverage[name]
        cells = [f"{counts.get(end, 0):,}" for end in OUTCOMES]
        shares = ("", "") if coverage.reached is None else coverage.reached.shares
        rows.append((name, *cells, f"{coverage.fingerprints:,}", *shares))
    headings = ("validator", *OUTCOMES, "paths", "nodes", "branches")
    show_table(out, headings, rows, title=f"{target.name} against {target.against}")
    for law in sorted({law.name for law in laws_for(target)}):
        times = tally.tried[law]
        if times or law not in printed.unchecked:
            broken = tally.broken(law)
            say(out, f"{law}: tried {counted(times, 'time')}, broken {broken:,}")
    for line in not_checked(printed.unchecked):
        say(out, line, "yellow")
    say(out, withheld(tally.unreached))
    findings = _shown_first(report.findings)
    apart = False
    for finding in findings[:SHOWN]:
        if finding.order_only and not apart:
            apart = True
            say(out, ORDER_ONLY, "bold")
        say(out, f"{finding.line} (broken law: {finding.rule}; {counted(finding.times, 'time')})")
        if finding.vector is not None:
            for line in explanation(target, msgspec.convert(finding.vector, Case), finding.cause):
                say(out, f"  {line}")
            print(json_line(finding.vector))
        for path in files.paths([finding]):
            for line in next_steps(finding, path):
                say(out, f"  {line}")
    if len(findings) > SHOWN:
        say(out, f"and {counted(len(findings) - SHOWN, 'more finding')}")
    if findings and not files.paths(findings):
        say(out, "with --out DIR, findings are stored as files for `view` and `debug`")
    if report.digest is not None:
        say(out, f"digest    {report.digest}")
    say(
        out,
        f"{counted(report.compared, 'case')} in {report.seconds:.1f} s,"
        f" {counted(round(report.rate), 'case')} per second, {printed.summary}"
        f"{'; interrupted' if report.interrupted else ''}",
    )
