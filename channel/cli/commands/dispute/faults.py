"""`channelsim dispute faults`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console

from channelsim.channel.campaign.shards import in_order
from channelsim.channel.cli.campaigns import all_done
from channelsim.channel.cli.options import InText, Json, NoProgress, Seed, json_wanted, whole
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import UNNOTICED, Finding, summary
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.simulation.faults.search import FaultReport, FaultStatus, examine_all
from channelsim.channel.simulation.faults.table import ARGUED, faults
from channelsim.channel.simulation.sweep import dealer_of_menus
from channelsim.channel.system.file_kinds import DOCUMENT
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.games.amounts import counted
from channelsim.games.names import nearest, quoted


def command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of faults, or parts of names (all).")
    ] = None,
    jobs: Annotated[int, whole(1, 256, "How many processes.")] = 1,
    seed: Seed = "faults",
    json: Json = False,
    text: InText = False,
    quiet: NoProgress = False,
) -> int:
    """Plant faults in the honest peer, and report which adversary and promise detects each.

    Each check of the engine is left out in turn, and many things are done wrongly. Exit code 1: a
    fault went unnoticed.

    Example: channelsim dispute faults --jobs 2
    """
    as_json = json_wanted(json, text)
    known = [fault.name for fault in faults()]
    wanted = [_find(name, known) for name in names or ()]
    with progress("planted faults", "fault", shown=not quiet) as bar:
        run = examine_all(
            seed, jobs, wanted, on_status=lambda status: bar(status.work, status.total)
        )
    with finishing():
        found, interrupted = list(in_order({**run.partial, **run.results})), run.interrupted
        if as_json:
            print_json(tally(found, interrupted=interrupted))
        else:
            _show(console(), found)
            counts = Counter(finding.outcome for finding in found)
            statuses = ", ".join(f"{counts[one]} {one.value}" for one in FaultStatus)
            ending = "; interrupted" * interrupted
            if (dealer := dealer_of_menus()) is not None:
                say(console(), f"\nCards of decks are from a {dealer}.")
            count = summary(open_faults(found))
            say(console(), f"{counted(len(found), 'fault')}: {statuses}{ending}; {count}")
        every = all_done("faults", run.lost, "fault")
    failed = not every or any(is_open(finding) for finding in found)
    return exit_code(interrupted, failed=failed)


def is_open(finding: FaultReport) -> bool:
    """True if a fault went unnoticed or was not reached, without a stored reason, or the engine
    broke a promise without it."""
    match finding.outcome:
        case FaultStatus.NOTICED | FaultStatus.COVERED:
            return False
        case FaultStatus.WITHOUT:
            return True
        case FaultStatus.UNNOTICED | FaultStatus.UNREACHED:
            return finding.fault not in ARGUED


def open_faults(found: Iterable[FaultReport]) -> list[Finding]:
    """The open faults as findings."""
    return [
        Finding(
            rule=", ".join(report.about),
            place=report.fault,
            severity=UNNOTICED,
            text=f"{report.outcome.value}: {report.what}",
        )
        for report in found
        if is_open(report)
    ]


def tally(found: list[FaultReport], *, interrupted: bool = False) -> dict[str, Any]:
    """The reports as JSON data, by rule and by fault."""
    rules: dict[str, dict[str, str]] = {}
    for finding in found:
        for rule in finding.about:
            by = finding.scenario.adversary if finding.scenario else ""
            noticed = f"{by or 'nobody'}: {finding.promise}" if finding.scenario else ""
            rules.setdefault(rule, {})[finding.fault] = noticed or finding.outcome.value
    return {
        "format": f"{DOCUMENT}faults 1",
        "dealer": dealer_of_menus(),
        "interrupted": interrupted,
        "summary": summary(open_faults(found)),
        "faults": len(found),
        **{one.name.lower(): sum(f.outcome is one for f in found) for one in FaultStatus},
        "open": [finding.fault for finding in found if is_open(finding)],
        "rules": rules,
        "findings": [
            {
                **asdict(finding),
                "outcome": finding.outcome.value,
                "argued": ARGUED.get(finding.fault, ""),
            }
            for finding in found
        ],
    }


def _find(name: str, known: list[str]) -> str:
    if name in known:
        return name
    parts = [one for one in known if name in one]
    if len(parts) == 1:
        return parts[0]
    several = f" (did you mean {' or '.join(map(repr, parts[:3]))}?)" if parts else ""
    short = [one.rpartition(" ")[2].rpartition(".")[2] for one in known]
    hint = several or nearest(name, [*known, *short])
    raise UsageError(f"no fault is called {quoted(name)}{hint}")


def _show(terminal: Console, found: Iterable[FaultReport]) -> None:
    for finding in found:
        style = {FaultStatus.NOTICED: "", FaultStatus.COVERED: "dim"}.get(finding.outcome, "red")
        head = f"{finding.outcome.value}: {finding.fault} ({', '.join(finding.about)})"
        say(terminal, head, style)
        say(terminal, f"    {finding.what}", "dim")
        scenario = finding.scenario
        if scenario is not None:
            who = f"{scenario.adversary}@{scenario.step}" if scenario.adversary else "honest play"
            say(terminal, f"    by {who}: {finding.promise}: {finding.how}")
        elif finding.fault in ARGUED:
            say(terminal, f"    {ARGUED[finding.fault]}", "dim")
