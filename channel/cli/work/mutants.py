"""The work of `channelsim mutants`."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import msgspec

from channelsim.channel.campaign.directory import PREPARED, is_campaign
from channelsim.channel.campaign.shards import describe_lost
from channelsim.channel.cli.campaigns import (
    Ending,
    Places,
    check_directory,
)
from channelsim.channel.cli.check_reports import Checked, CheckReport
from channelsim.channel.cli.commands.mutants import MutantsOptions
from channelsim.channel.cli.messages import complain, untried
from channelsim.channel.documents.mutants import MutantsDocument, ProgramMutants
from channelsim.channel.documents.results import lost_work
from channelsim.channel.lab.cases.corpus import own_corpus
from channelsim.channel.lab.mutants.judged_cases import JudgedCase, recorded
from channelsim.channel.lab.mutants.judged_cases import stored as stored_cases
from channelsim.channel.lab.mutants.kinds import KINDS
from channelsim.channel.lab.mutants.report import (
    Count,
    MutantReport,
    Survivor,
    all_mutants,
    hunt_configuration,
    hunted,
)
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.result import NO_SOLVER
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, say
from channelsim.games.amounts import counted

HEADINGS = ("made", "killed", "share", "proved", "argued", "open", "median runs")

PROVING = 5.0
"""Seconds of work for the proof of each survivor, unless an option says otherwise."""

PROVED = "proved"
"""The folder of the proofs of survivors."""

SOLVER = "z3"


def hunt_mutants(options: MutantsOptions) -> int:
    """Change compiled programs in one place at a time, and check that the lab finds each change."""
    campaign = options.campaign
    with progress("mutants", shown=not campaign.quiet):
        target = load(options.game)
        folder = options.corpus or own_corpus(target)
        first = _first_cases(target, folder)
        # Only rules say what fresh cases lead to.
        chunks = None if target.rules is not None else 0
        mutants = all_mutants(target, options.validator)
        configuration = hunt_configuration(
            target,
            mutants,
            options.seed,
            options.seconds,
            argued_too=options.argued,
            chunks=chunks,
            stored=first,
        )
        prepared = None if campaign.out is None else campaign.out / PREPARED
        # A hunt that was ended in its first campaign has no directory of the second yet.
        if prepared is None or is_campaign(prepared.parent) or not is_campaign(prepared):
            check_directory(campaign.out, configuration, "chunks", resume=campaign.resume)
        else:
            check_directory(prepared, configuration, "mutants", resume=campaign.resume)
    resume = campaign.out is not None and is_campaign(campaign.out)
    with Places(replace(campaign, resume=resume), "mutants") as places:
        report = hunted(
            target,
            mutants,
            seed=options.seed,
            seconds=options.seconds,
            argued_too=options.argued,
            chunks=chunks,
            stored=first,
            open_place=places,
        )
        proving = (
            min(PROVING, options.seconds)
            if options.prove_seconds is None
            else options.prove_seconds
        )
        if proving and not report.hunt.interrupted:
            report = _with_proofs(report, proving, places, argued=options.argued)
        names = [options.validator] if options.validator is not None else list(target.programs)
        ending = Ending(
            name=target.name,
            document=lambda: document(report, options.seconds),
            show=lambda printed: _print(report, printed),
            report=lambda printed: _check_report(report, printed),
            untried=lambda: untried(names, report.validators, "nothing in it can be changed"),
        )
        return places.end(
            ending,
            interrupted=report.hunt.interrupted,
            failed=report.failed(options.seconds),
            lost=[
                line
                for unit, shards in report.hunt.lost.items()
                for line in describe_lost(shards, unit)
            ],
        )


def _with_proofs(
    report: MutantReport, seconds: float, places: Places, *, argued: bool
) -> MutantReport:
    """The report with what the prover says about the survivors that it is asked about."""
    asked = [result for result in report.hunt.alive if argued or report.is_open(result)]
    if not asked:
        return report
    if find_spec(SOLVER) is None:
        complain(f"mutants: the prover is not asked: it {NO_SOLVER}")
        return report
    from channelsim.channel.prove.survivors import survivor_proofs

    campaign, numbers = survivor_proofs(report.target, asked, seconds)
    if campaign is None:
        return report
    with places(campaign, PROVED) as place:
        proofs, interrupted = campaign.run(place)
    hunt = replace(report.hunt, interrupted=interrupted)
    by_place = {numbers[number]: proof for number, proof in proofs.items()}
    return replace(report, hunt=hunt, proofs=by_place)


def _first_cases(target: Target, folder: Path | None) -> dict[str, list[JudgedCase]]:
    """The stored cases that every mutant meets first; without rules, those of honest play too.

    Raises `UsageError` if there are neither.
    """
    cases = {} if folder is None else stored_cases(target, folder)
    if target.rules is None:
        if not target.honest and folder is None:
            target.check_playable()  # it says what is missing
        for name, recorded_cases in recorded(target).items():
            cases[name] = [*cases.get(name, ()), *recorded_cases]
    return cases


def document(report: MutantReport, seconds: float) -> MutantsDocument:
    """The report as a document."""
    return MutantsDocument(
        target=report.target.name,
        dealer=report.target.dealer,
        seed=report.seed,
        seconds=seconds,
        interrupted=report.hunt.interrupted,
        total=report.count(),
        validators={
            name: ProgramMutants(
                report.count(name),
                {kind: count for kind in KINDS if (count := report.count(name, kind)).made},
            )
            for name in report.validators
        },
        kinds={kind: report.count(kind=kind) for kind in KINDS},
        survivors=tuple(report.survivors),
        chunks=report.hunt.chunks,
        lost=lost_work(shard for shards in report.hunt.lost.values() for shard in shards),
        digest=report.hunt.digest,
    )


def _check_report(report: MutantReport, printed: MutantsDocument) -> CheckReport:
    """A check for each validator; an open mutant is at the line that was changed."""
    target = report.target
    lines = {
        (survivor.validator, survivor.change): target.source_line(
            survivor.validator, survivor.function, survivor.within or survivor.old
        )
        for survivor in printed.survivors
    }
    findings = [
        msgspec.structs.replace(finding, source_line=lines[finding.place, finding.text])
        for finding in printed.every_finding()
    ]
    return CheckReport(
        command="mutants",
        target=target.name,
        source=target.source,
        checks=[
            Checked(name, [finding for finding in findings if finding.place == name])
            for name in report.validators
        ],
        summary=printed.summary,
    )


def _print(report: MutantReport, printed: MutantsDocument) -> None:
    out = console()
    by_validator = {name: program.total for name, program in printed.validators.items()}
    for heading, counts in (("validator", by_validator), ("kind", printed.kinds)):
        rows = [(name, *_cells(count)) for name, count in counts.items()]
        title = f"mutants of {report.target.name}, by {heading}{report.target.cards}"
        sums = ("all", *_cells(printed.total))
        show_table(out, (heading, *HEADINGS), [*rows, (), sums], title=title)
        say(out)
    for survivor in report.survivors:
        # After an interrupt, mutants that were never run are only counted.
        if survivor.runs or not report.hunt.interrupted:
            say(out, survivor_text(survivor))
    if report.target.rules is None:
        say(out, "without rules, mutants meet only the cases of honest play and of --corpus")
    if report.hunt.interrupted:
        say(out, "interrupted: mutants that were not hunted to the end count as open")
    total = printed.total
    half = (
        ""
        if total.median_runs is None
        else f", half of them within {counted(total.median_runs, 'run')}"
    )
    say(
        out,
        f"{total.killed:,} of {counted(total.made, 'mutant')} killed"
        f" ({total.share:.2%}){half};"
        f" {total.proved:,} proved, {total.argued:,} argued, {total.open:,} open;"
        f" {printed.summary}",
    )


def survivor_text(survivor: Survivor) -> str:
    """A surviving mutant as a line of text.

    >>> survivor = Survivor("end", "up", 3, "constant", "(q . 1)", "(q . 2)", "(+ 1 2)", 9, 1, "")
    >>> survivor_text(survivor)
    'argued: end, up, expression 3: (q . 1) -> (q . 2) in (+ 1 2) (constant; 9 runs): '
    """
    text = f"{survivor.validator}, {survivor.change}"
    proof = survivor.proof
    if proof is not None and proof.is_equal:
        return f"{proof.text}: {text}"
    proof_text = "" if proof is None else f"; {proof.text}"
    if survivor.reason is None:
        return f"OPEN: {text}{proof_text}"
    return f"argued: {text}: {survivor.reason}{proof_text}"


def _cells(count: Count) -> tuple[str, ...]:
    runs = "" if count.median_runs is None else f"{count.median_runs:,}"
    numbers = (f"{count.proved:,}", f"{count.argued:,}", f"{count.open:,}", runs)
    share = f"{count.share:.1%}" if count.made else ""
    return (f"{count.made:,}", f"{count.killed:,}", share, *numbers)
