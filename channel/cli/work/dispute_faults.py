"""The work of `channelsim dispute faults`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from channelsim.channel.cli.campaigns import Ending, run_campaign
from channelsim.channel.cli.check_reports import Checked, CheckReport
from channelsim.channel.cli.commands.dispute.faults import DisputeFaultsOptions
from channelsim.channel.cli.option_groups import CampaignOptions
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import summary
from channelsim.channel.report.terminal import console, say
from channelsim.channel.simulation.faults.search import (
    FaultsReport,
    FaultStatus,
    faults_campaign,
)
from channelsim.channel.simulation.faults.table import ARGUED, faults
from channelsim.channel.simulation.sweep import dealer_of_menus
from channelsim.channel.system.file_kinds import DOCUMENT
from channelsim.games.amounts import counted
from channelsim.games.names import nearest, quoted


def plant_faults(options: DisputeFaultsOptions) -> int:
    """Plant faults in the honest peer, and report which adversary and promise detects each."""
    known = [fault.name for fault in faults()]
    return run_campaign(
        faults_campaign(options.seed, [_find(name, known) for name in options.names or ()]),
        CampaignOptions(
            jobs=options.jobs,
            json=options.form.as_json,
            quiet=options.quiet,
            reports=options.reports,
        ),
        "planted faults",
        lambda report: Ending(
            name="faults",
            document=lambda: fault_document(report),
            show=lambda _: _show(report),
            report=lambda _: _check_report(report),
        ),
    )


def fault_document(report: FaultsReport) -> dict[str, Any]:
    """The reports as JSON data, by rule and by fault."""
    rules: dict[str, dict[str, str]] = {}
    for fault in report.results:
        for rule in fault.about:
            by = fault.scenario.adversary if fault.scenario else ""
            noticed = f"{by or 'nobody'}: {fault.promise}" if fault.scenario else ""
            rules.setdefault(rule, {})[fault.fault] = noticed or fault.outcome.value
    outcomes = Counter(fault.outcome for fault in report.results)
    return {
        "format": f"{DOCUMENT}faults 1",
        "dealer": dealer_of_menus(),
        "interrupted": report.interrupted,
        "summary": summary(report.findings),
        "faults": len(report.results),
        **{status.name.lower(): outcomes[status] for status in FaultStatus},
        "open": [finding.place for finding in report.findings],
        "rules": rules,
        "findings": [
            {
                **asdict(fault),
                "outcome": fault.outcome.value,
                "argued": ARGUED.get(fault.fault, ""),
            }
            for fault in report.results
        ],
    }


def _check_report(report: FaultsReport) -> CheckReport:
    """A check for each fault."""
    unnoticed = {finding.place: finding for finding in report.findings}
    return CheckReport(
        command="dispute faults",
        target="",
        source="",
        checks=[
            Checked(
                fault.fault,
                [unnoticed[fault.fault]] if fault.fault in unnoticed else [],
                about=fault.what,
            )
            for fault in report.results
        ],
        summary=summary(report.findings),
    )


def _find(name: str, known: list[str]) -> str:
    if name in known:
        return name
    parts = [fault for fault in known if name in fault]
    if len(parts) == 1:
        return parts[0]
    several = f" (did you mean {' or '.join(map(repr, parts[:3]))}?)" if parts else ""
    short = [fault.rpartition(" ")[2].rpartition(".")[2] for fault in known]
    hint = several or nearest(name, [*known, *short])
    raise UsageError(f"no fault is called {quoted(name)}{hint}")


def _show(report: FaultsReport) -> None:
    terminal = console()
    for fault in report.results:
        style = {FaultStatus.NOTICED: "", FaultStatus.COVERED: "dim"}.get(fault.outcome, "red")
        head = f"{fault.outcome.value}: {fault.fault} ({', '.join(fault.about)})"
        say(terminal, head, style)
        say(terminal, f"    {fault.what}", "dim")
        scenario = fault.scenario
        if scenario is not None:
            who = f"{scenario.adversary}@{scenario.step}" if scenario.adversary else "honest play"
            say(terminal, f"    by {who}: {fault.promise}: {fault.how}")
        elif fault.fault in ARGUED:
            say(terminal, f"    {ARGUED[fault.fault]}", "dim")
    outcomes = Counter(fault.outcome for fault in report.results)
    statuses = ", ".join(f"{outcomes[status]} {status.value}" for status in FaultStatus)
    ending = "; interrupted" * report.interrupted
    if (dealer := dealer_of_menus()) is not None:
        say(terminal, f"\nCards of decks are from a {dealer}.")
    count = summary(report.findings)
    say(terminal, f"{counted(len(report.results), 'fault')}: {statuses}{ending}; {count}")
