"""Transcripts of disputes: the scenario in the first line, then every event."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import msgspec

from channel.errors import UsageError
from channel.session.session_events import Listener, SessionEvent
from channel.session.transcript import Lines, Record, Sink, record_of
from channel.simulation.arena import Arena
from channel.simulation.promises.checker import BrokenPromise, check
from channel.simulation.run import Run
from channel.simulation.scenario import Scenario
from channel.simulation.scenario import check as check_scenario
from games.names import printable

DISPUTE = "channelsim dispute 2"


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    scenario: Scenario


def scenario_of(path: Path, header: Record) -> Scenario:
    """Read the scenario in a transcript's first line. Raises `UsageError`."""
    try:
        return check_scenario(msgspec.convert(header, _Header).scenario)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{path}: line 1: not the head of a dispute: {printable(str(error))}"
        ) from None


def played(
    scenario: Scenario, sink: Sink = lambda line: None, *listeners: Listener
) -> tuple[Run, list[BrokenPromise], str]:
    """Run a scenario and check its promises; returns the run, the broken promises, the digest."""
    lines = Lines(sink)
    lines.write({"format": DISPUTE, "scenario": asdict(scenario)})

    def record(event: SessionEvent) -> None:
        line = record_of(event)
        if line is not None:
            lines.write(line)

    run = Arena(scenario, (record, *listeners)).run()
    broken = check(run)
    lines.write(
        {
            "end": {
                "blocks": run.blocks,
                "reorgs": run.reorgs,
                "deviated": run.deviated,
                "broken": [[one.promise, one.how] for one in broken],
            }
        }
    )
    return run, broken, lines.digest()
