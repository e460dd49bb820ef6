"""`channelsim dispute run --all`: every adversary, as a campaign."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.job import Counts
from channelsim.channel.cli.campaigns import (
    all_done,
    campaign_directory,
    chosen_workers,
    lost_document,
)
from channelsim.channel.report.matrix import show
from channelsim.channel.report.progress import campaign_progress
from channelsim.channel.report.terminal import console, print_json
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import SweepTotals, dealer_of_menus, row_of
from channelsim.channel.simulation.sweep_campaign import (
    SweepReport,
    run_all,
    sweep_configuration,
    sweep_plan,
    sweep_size,
)
from channelsim.channel.system.interrupt import exit_code, finishing

FORMAT = "channelsim dispute finding 1"


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
        notebook = DisputeFindings(stored)
        with campaign_progress("disputes", "adversary", quiet=quiet) as on_status:
            report = run_all(
                seed,
                seeds,
                workers=workers,
                journal=stored,
                on_result=notebook.write,
                on_status=on_status,
            )
        with finishing():
            totals, printed = report.totals, sweep_document(report)
            if stored is not None and not totals.interrupted:
                notebook.write_last(totals)
                stored.write_summary(printed)
            if as_json:
                print_json(printed)
            else:
                show(totals, console())
            every = all_done("disputes", report.lost, "adversary")
    return exit_code(
        totals.interrupted, failed=bool(totals.broken or totals.exceptions) or not every
    )


@dataclass
class DisputeFindings:
    """Writes each broken promise and exception of an adversary once, in the first dispute that
    shows it; nothing without a directory.

    `broken` and `exceptions` are how many of the totals were looked at.
    """

    directory: CampaignDirectory[Any] | None
    written: set[str] = field(default_factory=set)
    broken: int = 0
    exceptions: int = 0

    def write(self, totals: SweepTotals) -> Counts:
        """Write what is new among the totals so far, to which results are only appended."""
        if self.directory is None:
            return {}
        broken, exceptions = totals.broken[self.broken :], totals.exceptions[self.exceptions :]
        self.broken, self.exceptions = len(totals.broken), len(totals.exceptions)
        for finding in findings(broken, exceptions):
            name = file_name(finding)
            if name not in self.written:
                self.directory.write_finding(name, {"format": FORMAT, **finding})
                self.written.add(name)
        return {}

    def write_last(self, totals: SweepTotals) -> None:
        """Write all again, each in the first dispute of the order of seeds: earlier files depend
        on the order in which shards came."""
        self.written.clear()
        self.broken = self.exceptions = 0
        self.write(totals)


def findings(
    broken: Iterable[tuple[Scenario, BrokenPromise]], exceptions: Iterable[tuple[Scenario, str]]
) -> Iterator[dict[str, Any]]:
    """Broken promises and exceptions as JSON data, with their scenarios."""
    for scenario, promise in broken:
        yield {"scenario": asdict(scenario), **asdict(promise)}
    for scenario, text in exceptions:
        yield {"scenario": asdict(scenario), "exception": text}


def file_name(finding: dict[str, Any]) -> str:
    """The name of a finding's file: the same for the same promise, adversary and games."""
    scenario = finding["scenario"]
    who = f"{row_of(Scenario(**scenario))} {' '.join(scenario['games'])}"
    what = finding.get("promise") or finding["exception"]
    slug = re.sub(r"[^a-z0-9]+", "-", f"{who} {what}".lower()).strip("-")
    digest = sha256(f"{who}\0{what}".encode()).hexdigest()[:8]
    return f"{slug[:60]}-{digest}.json"


def sweep_document(report: SweepReport) -> dict[str, Any]:
    """The results of many runs as JSON data."""
    tally = report.totals
    return {
        "runs": tally.runs,
        "dealer": dealer_of_menus(),
        "broken_promises": len(tally.broken),
        "exceptions": len(tally.exceptions),
        "idle": tally.idle,
        "blocks": tally.blocks,
        "spends": tally.spends,
        "paid": tally.paid,
        "reorgs": tally.reorgs,
        "interrupted": tally.interrupted,
        "shards": report.shards,
        "lost": lost_document(report.lost),
        "digest": report.digest,
        "matrix": {
            name: {
                where: {
                    "runs": cell.runs,
                    "broken_promises": cell.broken,
                    "results": dict(cell.results),
                }
                for where, cell in row.items()
            }
            for name, row in tally.matrix.items()
        },
        "findings": list(findings(tally.broken, tally.exceptions)),
    }
