"""`channelsim dispute run`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.cli.campaigns import (
    CampaignOptions,
    Cluster,
    Ending,
    Out,
    Resume,
    run_campaign,
)
from channelsim.channel.cli.check_reports import NO_REPORTS, Checked, CheckReport, ReportFiles
from channelsim.channel.cli.disputes import (
    DEFAULT_SEED,
    able_in,
    adversary_and_step,
    described_scenario,
    menu_of,
    processes_of,
    run_dispute,
)
from channelsim.channel.cli.options import (
    InText,
    Json,
    MaxFee,
    MaxFees,
    Mix,
    NoProgress,
    ReportFile,
    Seed,
    TranscriptFile,
    json_wanted,
    refuse,
    whole,
)
from channelsim.channel.cli.session_files import report_file, transcript_file
from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.report.matrix import show
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.crowd import MOST_RATE
from channelsim.channel.simulation.scenario import MOST_FEES, WEATHERS, check
from channelsim.channel.simulation.sweep import dealer_of_menus, menus
from channelsim.channel.simulation.sweep_campaign import SweepReport, sweep_of_all
from channelsim.games.names import nearest

MOST_SEEDS = 1_000_000


def command(
    name: Annotated[
        str | None, typer.Argument(help="An adversary (see `dispute list`): NAME, or NAME@STEP.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every adversary.")] = False,
    seeds: Annotated[int | None, whole(1, MOST_SEEDS, "With --all: how many seeds (1).")] = None,
    jobs: Annotated[int | None, whole(1, 256, "With --all: how many processes (1).")] = None,
    seed: Seed = DEFAULT_SEED,
    at: Annotated[
        int | None,
        whole(
            0,
            999_999,
            "The number of its messages after which it deviates (8, or fewer in a short hand).",
        ),
    ] = None,
    side: Annotated[
        str | None,
        typer.Option(help=f"Which peer the adversary is: {' or '.join(NAMES)} ({NAMES[1]})."),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(
            help="A game, or several separated by commas, live at the same time. With --all: only"
            " these."
        ),
    ] = None,
    weather: Annotated[
        str | None, typer.Option(help=f"The chain: {', '.join(WEATHERS)} (calm).")
    ] = None,
    fees: Annotated[
        int | None,
        whole(
            0,
            MOST_FEES,
            "What the honest peer's node asks of a typical spend, in mojos (0). In a dispute,"
            " --max-fee is 20 times as much by default, and --max-fees 50 times --max-fee.",
        ),
    ] = None,
    max_fee: MaxFee = None,
    max_fees: MaxFees = None,
    crowd: Annotated[
        int | None,
        whole(
            1,
            MOST_RATE,
            "Others fill the blocks of the dispute, at this many mojos per cost (nobody does).",
        ),
    ] = None,
    hands: Annotated[int | None, whole(1, 100, "How often the games are played (1).")] = None,
    staggered: Annotated[
        bool, typer.Option("--staggered", help="Start each game some moves after the previous one.")
    ] = False,
    old_copy: Annotated[
        int | None,
        whole(
            1,
            999_999,
            "The number of its messages after which the honest peer is restored from an old copy"
            " of its store; without NAME, both peers are honest.",
        ),
    ] = None,
    most_states: Annotated[
        int | None,
        whole(10, 1_000_000, "The honest peer's own limit of states (20000)."),
    ] = None,
    most_bytes: Annotated[
        int | None,
        whole(10_000, 192 << 20, "The honest peer's own limit of bytes for them (67108864)."),
    ] = None,
    mix: Mix = False,
    processes: Annotated[
        bool,
        typer.Option(
            "--processes",
            help="Run the node and both peers as processes that talk over the network; the digest"
            " is the same.",
        ),
    ] = False,
    json: Json = False,
    text: InText = False,
    transcript: TranscriptFile = None,
    report: ReportFile = None,
    reports: ReportFiles = NO_REPORTS,
    out: Out = None,
    resume: Resume = False,
    cluster: Cluster = None,
    quiet: NoProgress = False,
) -> int:
    """Run a dispute, or with --all every adversary.

    Exit code 1: a promise is broken, or a dispute crashed its worker.

    Example: channelsim dispute run silent@7 --weather reorgs --seed 3
    """
    as_json = json_wanted(json, text)
    if (name is None and everything == (old_copy is not None)) or (name and everything):
        raise UsageError("dispute run: the name of an adversary, --old-copy, or --all")
    if everything:
        refuse(
            "--all tries every one of them; leave it out, or name an adversary instead",
            at=at,
            side=side,
            weather=weather,
            fees=fees,
            max_fee=max_fee,
            max_fees=max_fees,
            crowd=crowd,
            hands=hands,
            staggered=staggered,
            old_copy=old_copy,
            most_states=most_states,
            most_bytes=most_bytes,
            mix=mix,
            processes=processes,
        )
        refuse("is of one dispute: name an adversary instead of --all", transcript=transcript)
        refuse("is of one dispute: name an adversary instead of --all", report=report)
        only = () if game is None else menu_of(game)
        for scenario in menus(only):
            check(scenario)
        options = CampaignOptions(
            jobs=jobs or 1,
            json=as_json,
            out=out,
            resume=resume,
            cluster=cluster,
            quiet=quiet,
            reports=reports,
        )
        return run_campaign(
            sweep_of_all(seed, seeds or 1, only),
            options,
            "disputes",
            lambda report: Ending(
                name="disputes",
                document=lambda: sweep_document(report, seed, only),
                show=lambda printed: _show(printed, only),
                report=_check_report,
            ),
        )
    refuse("goes with --all; one dispute has one --seed", seeds=seeds)
    refuse("goes with --all; one dispute runs in one process", jobs=jobs, cluster=cluster)
    refuse(
        "goes with --all, which is a campaign",
        out=out,
        resume=resume,
        junit=reports.junit,
        sarif=reports.sarif,
    )
    side = NAMES[1] if side is None else side
    if side not in NAMES:
        raise UsageError(f"--side {side}{nearest(side, NAMES)}: {' or '.join(NAMES)}")
    adversary, step = ("", 0) if name is None else adversary_and_step(name)
    if name is None:
        refuse("is the step of an adversary: name one", at=at)
    elif "@" in name:
        refuse(f"{name} names the step already", at=at)
    step = step if at is None else at
    scenario = described_scenario(
        adversary,
        games=game,
        step=step,
        seed=seed,
        side=NAMES.index(side),
        weather=weather,
        fees=fees,
        max_fee=max_fee,
        max_fees=max_fees,
        crowd=crowd,
        hands=hands,
        staggered=staggered,
        old_copy=old_copy,
        most_states=most_states,
        most_bytes=most_bytes,
        mixed=mix,
    )
    if scenario.staggered and len(scenario.games) * scenario.hands == 1:
        raise UsageError("--staggered: one hand of one game has no next one; add --hands or --game")
    with (
        report_file(report, transcript=transcript) as page,
        transcript_file(transcript) as file,
        processes_of(scenario, apart=processes) as apart,
    ):
        return run_dispute(
            scenario,
            file.write,
            file.finish,
            as_json=as_json,
            quiet=quiet,
            anywhere=step is None,
            page=page,
            apart=apart,
        )


def _show(printed: DisputesDocument, only: tuple[str, ...]) -> None:
    """Print the results, and how many adversaries the named games are for."""
    if only:
        say(console(), able_in(only))
    show(printed, console())


def _check_report(printed: DisputesDocument) -> CheckReport:
    """A check for each adversary."""
    return CheckReport(
        command="dispute run --all",
        target="disputes",
        source="",
        checks=[
            Checked(
                name,
                [finding for finding in printed.findings if finding.place.startswith(f"{name}, ")],
            )
            for name in printed.matrix
        ],
        summary=printed.summary,
    )


def sweep_document(report: SweepReport, seed: str, only: tuple[str, ...] = ()) -> DisputesDocument:
    """The results of many runs, of all games or `only` these, as a document."""
    totals = report.totals
    return DisputesDocument(
        target=", ".join(only) or None,
        dealer=dealer_of_menus(only),
        seed=seed,
        runs=totals.runs,
        idle=totals.idle,
        blocks=totals.blocks,
        spends=totals.spends,
        paid=totals.paid,
        reorgs=totals.reorgs,
        interrupted=totals.interrupted,
        shards=report.shards,
        lost=lost_work(report.lost),
        digest=report.digest,
        matrix=totals.matrix,
        findings=tuple(report.findings),
    )
