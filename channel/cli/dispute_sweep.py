"""`channelsim dispute run --all`: every adversary, as a campaign."""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.cli.campaigns import (
    all_done,
    campaign_directory,
    chosen_workers,
)
from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.findings.finding_files import FindingFiles
from channelsim.channel.report.matrix import show
from channelsim.channel.report.progress import campaign_progress
from channelsim.channel.report.terminal import console, print_json
from channelsim.channel.simulation.sweep import dealer_of_menus
from channelsim.channel.simulation.sweep_campaign import (
    SweepReport,
    run_all,
    sweep_configuration,
    sweep_plan,
    sweep_size,
)
from channelsim.channel.simulation.sweep_findings import findings
from channelsim.channel.system.interrupt import exit_code, finishing


def sweep(
    seed: str,
    seeds: int,
    jobs: int,
    out: Path | None,
    cluster: str | None,
    *,
    resume: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run every adversary; the exit code, 1 for a broken promise, an exception or lost work."""
    configuration = sweep_configuration(seed, seeds)
    plan = sweep_plan(configuration, sweep_size(seed, seeds))
    with campaign_directory(out, configuration, plan, "adversaries", resume=resume) as stored:
        workers = chosen_workers(jobs, plan, cluster, stored=stored is not None)
        files = FindingFiles(None if stored is None else stored.findings)
        with campaign_progress("disputes", "adversary", quiet=quiet) as on_status:
            report = run_all(
                seed,
                seeds,
                workers=workers,
                journal=stored,
                on_result=lambda totals: files.write(findings(totals)),
                on_status=on_status,
            )
        with finishing():
            totals, printed = report.totals, sweep_document(report, seed)
            if stored is not None and not totals.interrupted:
                files.write_last(findings(totals))
                stored.write_summary(printed)
            if as_json:
                print_json(printed)
            else:
                show(printed, console())
            every = all_done("disputes", report.lost, "adversary")
    return exit_code(totals.interrupted, failed=bool(printed.findings) or not every)


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
        findings=tuple(findings(totals)),
    )
