"""The work of `channelsim replay`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from channelsim.channel.attack.disputes import ATTACKED_DISPUTE, EARLIER_DISPUTES, script_in
from channelsim.channel.campaign.directory import FINDINGS, is_campaign
from channelsim.channel.cli import FAILED, USAGE
from channelsim.channel.cli.attacked_disputes import run_attacked
from channelsim.channel.cli.findings import replay_finding
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.options import OutputForm, refuse
from channelsim.channel.cli.session_files import Display
from channelsim.channel.cli.sessions import run_session
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.session.transcript import Comparer, of_lines, unbroken
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, kind_of


def replay(files: list[Path], form: OutputForm, target: str | None, *, quiet: bool) -> int:
    """Replay transcripts and findings."""
    as_json = form.as_json
    # A single finding is text in a pipe, too.
    of_finding = form.json if len(files) == 1 else as_json

    def replayed(file: Path, show: Callable[[Any], None]) -> int:
        """Replay one file; the exit code."""
        if is_campaign(file):
            raise UsageError(
                f"{file}: the folder of a campaign; `channelsim replay` takes the files of its"
                f" folder `{FINDINGS}`, and `channelsim view {file}` shows it"
            )
        data = input_files.read(file, input_files.LINES)
        if target is not None or kind_of(data) is Kind.FINDING:
            refuse("is for a transcript, not for a finding", quiet=quiet)
            return replay_finding(file, data, target, json=of_finding, show=show)
        return replay_transcript(file, data, Display(as_json, quiet, show))

    if len(files) == 1:
        return replayed(files[0], print_json)
    documents: list[dict[str, Any]] = []
    worst = 0
    for file in files:
        if not as_json:
            say(console(), f"── {file} ──", "bold")
        try:
            code = replayed(file, partial(_collect, documents, file))
        except UsageError as error:
            complain(str(error))
            code = USAGE
        worst = max(worst, code)
        if code not in (0, FAILED, USAGE):
            break  # interrupted
    if as_json:
        print_json(documents)
    return worst


def _collect(documents: list[dict[str, Any]], file: Path, document: dict[str, Any]) -> None:
    documents.append({"file": str(file), **document})


def replay_transcript(file: Path, data: bytes, display: Display) -> int:
    """Run the session or the dispute of a transcript again; the exit code.

    Raises `UsageError` for a transcript that comes out differently.
    """
    lines, records = unbroken(file, data)
    comparer = Comparer(file, lines)
    if records[0].get("format") in EARLIER_DISPUTES:
        raise UsageError(
            f"{file}: line 1: a dispute that an earlier version recorded: its blocks and messages"
            " came in another order, so that it replays with that version alone; record it again"
            " with `channelsim dispute run … --transcript FILE`"
        )
    if records[0].get("format") == ATTACKED_DISPUTE:
        attack = script_in(file, records[0])
        return run_attacked(attack, comparer, comparer.finish, display, head=records[0])
    transcript = of_lines(file, lines, records)
    return run_session(transcript.setup, comparer, comparer.finish, display, recorded=transcript)
