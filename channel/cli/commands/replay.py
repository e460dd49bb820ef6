"""`channelsim replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.disputes import run_dispute
from channelsim.channel.cli.findings import replay_finding
from channelsim.channel.cli.options import InText, Json, Quiet, file_argument, json_wanted, refuse
from channelsim.channel.cli.sessions import run_session
from channelsim.channel.session.transcript import Comparer, of_lines, unbroken
from channelsim.channel.simulation.transcript import DISPUTE, scenario_of
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, kind_of


def command(
    file: Annotated[Path, file_argument("A transcript that `play` wrote, or a finding of `fuzz`.")],
    json: Json = False,
    text: InText = False,
    quiet: Quiet = False,
    target: Annotated[
        str | None,
        typer.Option(help="Of a finding: try it on this target (the one that it was found on)."),
    ] = None,
) -> int:
    """Play a transcript again, or try a finding again.

    Every line of a transcript, and its digest, must come out the same. For a finding, exit code 1
    means that it still happens.

    Example: channelsim replay session.jsonl
    """
    data = input_files.read(file, input_files.LINES)
    as_json = json_wanted(json, text)
    if target is not None or kind_of(data) is Kind.FINDING:
        refuse("is for a transcript, not for a finding", quiet=quiet)
        return replay_finding(file, data, target, json=json)
    lines, records = unbroken(file, data)
    comparer = Comparer(file, lines)
    if records[0].get("format") == DISPUTE:
        scenario = scenario_of(file, records[0])
        return run_dispute(scenario, comparer, comparer.finish, as_json=as_json, quiet=quiet)
    transcript = of_lines(file, lines, records)
    return run_session(
        transcript.setup,
        comparer,
        comparer.finish,
        as_json=as_json,
        quiet=quiet,
        recorded=transcript,
    )
