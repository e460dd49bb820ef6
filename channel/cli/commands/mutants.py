"""`channelsim mutants`."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from channelsim.channel.campaign.directory import PREPARED, CampaignDirectory, is_campaign
from channelsim.channel.campaign.shards import Plan
from channelsim.channel.cli.campaigns import (
    Cluster,
    Out,
    Resume,
    all_done,
    campaign_directory,
    check_directory,
    chosen_workers,
)
from channelsim.channel.cli.messages import all_tried
from channelsim.channel.cli.options import (
    DAY,
    Jobs,
    Json,
    NoProgress,
    Seed,
    TargetName,
    file_option,
    processes,
    real,
)
from channelsim.channel.documents.mutants import MutantsDocument, ProgramMutants
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.corpus import own_corpus
from channelsim.channel.lab.mutants.hunt import HuntPlace
from channelsim.channel.lab.mutants.kinds import KINDS
from channelsim.channel.lab.mutants.prepared_calls import stored as stored_calls
from channelsim.channel.lab.mutants.report import (
    Count,
    MutantReport,
    Survivor,
    all_mutants,
    hunt_configuration,
    hunted,
)
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.report.progress import campaign_progress, progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.games.amounts import counted

Journal: TypeAlias = AbstractContextManager[CampaignDirectory[Any] | None]

HEADINGS = ("made", "killed", "share", "argued", "open", "median runs")


def command(
    game: TargetName,
    seconds: Annotated[
        float, real(0.001, DAY, "Hunt each mutant for this many seconds of work.")
    ] = 60.0,
    seed: Seed = "mutants",
    jobs: Jobs = None,
    corpus: Annotated[
        Path | None,
        file_option(
            "A folder of cases that every mutant meets first (that of the game's package)."
        ),
    ] = None,
    validator: Annotated[
        str | None,
        typer.Option(help="Only mutants of this validator, or of the `referee` (all validators)."),
    ] = None,
    argued: Annotated[
        bool, typer.Option("--argued", help="Also hunt mutants that have a stored reason.")
    ] = False,
    json: Json = False,
    out: Out = None,
    resume: Resume = False,
    cluster: Cluster = None,
    quiet: NoProgress = False,
) -> int:
    """Change compiled programs in one place at a time, and check that the lab finds each change.

    Exit code 1: a mutant survives without a stored reason, or crashed its worker.

    Example: channelsim mutants {game} --seconds 60
    """
    with progress("mutants", shown=not quiet):
        target = load(game)
        if target.rules is None:
            raise UsageError(
                f"{target.name}: mutants are checked against the rules of an installed game;"
                ' name one with `rules = "GAME"`'
            )
        folder = corpus or own_corpus(target)
        first = {} if folder is None else stored_calls(target, folder)
        mutants = all_mutants(target, validator)
        made = hunt_configuration(target, mutants, seed, seconds, argued_too=argued, stored=first)
        prepared = None if out is None else out / PREPARED
        if out is None or is_campaign(out) or not is_campaign(out / PREPARED):
            check_directory(out, made, "chunks", resume=resume)
        else:
            check_directory(prepared, made, "mutants", resume=resume)
    with ExitStack() as opened:
        directories: list[CampaignDirectory[Any]] = []

        def kept_open(path: Path | None, plan: Plan, unit: str) -> Journal:
            """Open a folder until the summary is written. It may be missing at a resume."""
            there = path is not None and is_campaign(path)
            found = opened.enter_context(campaign_directory(path, made, plan, unit, resume=there))
            return nullcontext(found)

        def journal(plan: Plan) -> Journal:
            with kept_open(out, plan, "chunks") as found:
                directories.extend([] if found is None else [found])
            return nullcontext(found)

        place = HuntPlace(
            lambda plan: chosen_workers(processes(jobs), plan, cluster, stored=out is not None),
            lambda plan: kept_open(prepared, plan, "mutants"),
            journal,
            lambda unit: campaign_progress("mutants", unit, quiet=quiet),
        )
        report = hunted(
            target,
            mutants,
            seed=seed,
            seconds=seconds,
            argued_too=argued,
            stored=first,
            place=place,
        )
        with finishing():
            printed = document(report, seconds)
            for stored in directories if not report.hunt.interrupted else ():
                stored.write_summary(printed)
            if json:
                print_json(printed)
            else:
                _print(report, printed)
            names = [validator] if validator is not None else list(target.programs)
            every = report.hunt.interrupted or all_tried(
                target.name, names, report.validators, "nothing in it can be changed"
            )
            for unit, lost in report.hunt.lost:
                every &= all_done(target.name, [lost], unit)
    if report.hunt.interrupted:
        return exit_code(failed=report.shown_open(seconds))
    return 0 if report.passed and every else 1


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
        lost=lost_work(shard for _, shard in report.hunt.lost),
        digest=report.hunt.digest,
    )


def _print(report: MutantReport, printed: MutantsDocument) -> None:
    out = console()
    names = {name: report.count(name) for name in report.validators}
    kinds = {kind: report.count(kind=kind) for kind in KINDS}
    for heading, counts in (("validator", names), ("kind", kinds)):
        rows = [(name, *_cells(count)) for name, count in counts.items()]
        title = f"mutants of {report.target.name}, by {heading}{report.target.cards}"
        every = ("all", *_cells(report.count()))
        show_table(out, (heading, *HEADINGS), [*rows, (), every], title=title)
        say(out)
    for survivor in report.survivors:
        # After an interrupt, mutants that were never run are only counted.
        if survivor.runs or not report.hunt.interrupted:
            say(out, survivor_text(survivor))
    if report.hunt.interrupted:
        say(out, "interrupted: mutants that were not hunted to the end count as open")
    total = report.count()
    half = (
        ""
        if total.median_runs is None
        else f", half of them within {counted(total.median_runs, 'run')}"
    )
    say(
        out,
        f"{total.killed:,} of {counted(total.made, 'mutant', ',')} killed"
        f" ({total.share:.2%}){half};"
        f" {total.argued} argued, {total.open} open; {printed.summary}",
    )


def survivor_text(survivor: Survivor) -> str:
    """A surviving mutant as a line of text.

    >>> survivor = Survivor("end", "up", 3, "constant", "(q . 1)", "(q . 2)", "(+ 1 2)", 9, 1, "")
    >>> survivor_text(survivor)
    'argued: end, up, expression 3: (q . 1) -> (q . 2) in (+ 1 2) (constant; 9 runs): '
    """
    text = f"{survivor.validator}, {survivor.change}"
    return f"OPEN: {text}" if survivor.reason is None else f"argued: {text}: {survivor.reason}"


def _cells(count: Count) -> tuple[str, ...]:
    runs = "" if count.median_runs is None else f"{count.median_runs:,}"
    numbers = (f"{count.argued:,}", f"{count.open:,}", runs)
    share = f"{count.share:.1%}" if count.made else ""
    return (f"{count.made:,}", f"{count.killed:,}", share, *numbers)
