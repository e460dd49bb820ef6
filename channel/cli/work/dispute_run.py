"""The work of `channelsim dispute run`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from channelsim.channel.attack.dispute_sweep import sweep_of_all
from channelsim.channel.attack.disputes import dispute_script
from channelsim.channel.cli.campaigns import Ending, run_campaign
from channelsim.channel.cli.check_reports import Checked, CheckReport
from channelsim.channel.cli.commands.dispute.run import DisputeRunOptions
from channelsim.channel.cli.disputes import (
    able_in,
    adversary_and_step,
    described_scenario,
    dispute_with_files,
    menu_of,
)
from channelsim.channel.cli.option_groups import CampaignOptions
from channelsim.channel.cli.options import (
    refuse,
)
from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.report.matrix import show
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.scenario import check
from channelsim.channel.simulation.sweep import dealer_of_menus, menus
from channelsim.channel.simulation.sweep_campaign import SweepReport
from channelsim.channel.simulation.terms import Proposals
from channelsim.games.names import nearest


def run(options: DisputeRunOptions) -> int:
    """Run a dispute, or with --all every adversary."""
    name, at = options.name, options.at
    one_dispute = name is not None or options.scenario.old_copy is not None
    if one_dispute == options.everything:
        raise UsageError("dispute run: the name of an adversary, --old-copy, or --all")
    if options.everything:
        return _run_all(options)
    side = NAMES[1] if options.side is None else options.side
    if side not in NAMES:
        raise UsageError(f"--side {side}{nearest(side, NAMES)}: {' or '.join(NAMES)}")
    adversary, step = ("", 0) if name is None else adversary_and_step(name)
    if name is not None and "@" in name:
        refuse(f"{name} names the step already", at=at)
    step = step if at is None else at
    scenario = described_scenario(
        adversary,
        games=options.game,
        step=step,
        seed=options.seed,
        side=NAMES.index(side),
        **_fields(options),
    )
    old_copy, files = options.scenario.old_copy, options.files
    if old_copy is not None:
        attack = dispute_script(scenario, old_copy)
        return dispute_with_files(attack, files, quiet=options.quiet, anywhere=False)
    if options.scenario.staggered and len(scenario.games) * scenario.hands == 1:
        raise UsageError("--staggered: one hand of one game has no next one; add --hands or --game")
    script = dispute_script(scenario)
    return dispute_with_files(script, files, quiet=options.quiet, anywhere=step is None)


def _fields(options: DisputeRunOptions) -> dict[str, Any]:
    """The options that are fields of a scenario, or of its terms."""
    given = asdict(options.scenario)
    del given["old_copy"]
    if given.pop("staggered"):
        given["proposals"] = Proposals.STAGGERED
    return given


def _run_all(options: DisputeRunOptions) -> int:
    """Run every adversary, in all games or in those that are named."""
    only = () if options.game is None else menu_of(options.game)
    for scenario in menus(only):
        check(scenario)
    return run_campaign(
        sweep_of_all(options.seed, options.seeds or 1, only),
        CampaignOptions(
            jobs=options.jobs or 1,
            json=options.files.form.as_json,
            out=options.out,
            resume=options.resume,
            cluster=options.cluster,
            quiet=options.quiet,
            reports=options.reports,
        ),
        "disputes",
        lambda report: Ending(
            name="disputes",
            document=lambda: sweep_document(report, options.seed, only),
            show=lambda printed: _show(printed, only),
            report=_check_report,
        ),
    )


def _show(printed: DisputesDocument, only: tuple[str, ...]) -> None:
    """Print the results, and how many adversaries the named games are for."""
    if only:
        for line in able_in(only):
            say(console(), line)
    show(printed, console())


def _check_report(printed: DisputesDocument) -> CheckReport:
    """A check for each adversary."""
    return CheckReport(
        command="dispute run --all",
        target="",
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
