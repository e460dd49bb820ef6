"""`channelsim dispute run --all`: every adversary, as a campaign."""

from __future__ import annotations

from channelsim.channel.cli.campaigns import CampaignOptions, Ending, run_campaign
from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.report.matrix import show
from channelsim.channel.report.terminal import console
from channelsim.channel.simulation.sweep import dealer_of_menus
from channelsim.channel.simulation.sweep_campaign import SweepReport, sweep_of_all


def sweep(seed: str, seeds: int, options: CampaignOptions) -> int:
    """Run every adversary; the exit code, 1 for a broken promise, an exception or lost work."""
    return run_campaign(
        sweep_of_all(seed, seeds),
        options,
        "disputes",
        lambda report: Ending(
            name="disputes",
            document=lambda: sweep_document(report, seed),
            show=lambda printed: show(printed, console()),
        ),
    )


def sweep_document(report: SweepReport, seed: str) -> DisputesDocument:
    """The results of many runs as a document."""
    totals = report.totals
    return DisputesDocument(
        target=None,
        dealer=dealer_of_menus(),
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
