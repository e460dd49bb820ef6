"""Transcripts of disputes: the scenario in the first line, then every event."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.session.session_events import Listener, SessionEvent
from channelsim.channel.session.transcript import Lines, Record, Sink, record_of
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.promises.checker import BrokenPromise, check
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.scenario import check as check_scenario
from channelsim.channel.simulation.session_processes import SessionProcesses
from channelsim.games.names import printable

DISPUTE = "channelsim dispute 2"

DISPUTE_WITH_FEES = "channelsim dispute 3"
"""The format where the honest side pays fees: earlier versions raised them in other steps."""

DISPUTES = frozenset((DISPUTE, DISPUTE_WITH_FEES))


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    scenario: Scenario


def scenario_of(path: Path, header: Record) -> Scenario:
    """Read the scenario in a transcript's first line. Raises `UsageError`.

    A scenario with fees or an old copy that an earlier version recorded cannot be played again.
    """
    try:
        scenario = check_scenario(msgspec.convert(header, _Header).scenario)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{path}: line 1: not the head of a dispute: {printable(str(error))}"
        ) from None
    except UsageError as error:
        raise UsageError(f"{path}: line 1: {error}") from None
    if header["scenario"].get("old_copy"):
        raise UsageError(
            f"{path}: line 1: a dispute with an old copy that an earlier version recorded: today it"
            " is an attacked session; record it again with"
            " `channelsim dispute run --old-copy … --transcript FILE`"
        )
    if header["format"] == DISPUTE != format_of(scenario):
        raise UsageError(
            f"{path}: line 1: a dispute with fees that an earlier version recorded: its peers"
            " offered other fees, so that it cannot be replayed; record it again with"
            " `channelsim dispute run … --transcript FILE`"
        )
    return scenario


def format_of(scenario: Scenario) -> str:
    """The format of a scenario's transcript."""
    return DISPUTE_WITH_FEES if all(scenario.most_fees) else DISPUTE


def played(
    scenario: Scenario,
    sink: Sink = lambda line: None,
    *listeners: Listener,
    apart: SessionProcesses | None = None,
    head: Record | None = None,
) -> tuple[Run, list[BrokenPromise], str]:
    """Run a scenario and check its promises; returns the run, the broken promises, the digest.

    With `apart`, the node and both sides are processes of their own. `head` is the first record of
    a transcript that is played again: older ones lack fields of scenarios.
    """
    lines = Lines(sink)
    lines.write(head or {"format": format_of(scenario), "scenario": asdict(scenario)})

    def record(event: SessionEvent) -> None:
        line = record_of(event)
        if line is not None:
            lines.write(line)

    run = Arena(scenario, (record, *listeners), apart=apart).run()
    broken = check(run)
    lines.write(
        {
            "end": {
                "blocks": run.blocks,
                "reorgs": run.reorgs,
                "deviated": run.deviated,
                "broken": [[promise.promise, promise.how] for promise in broken],
            }
        }
    )
    return run, broken, lines.digest()
