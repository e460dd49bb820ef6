"""The cases that the debugger can step through: those of a file, or of an honest hand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding_files import parsed
from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import plain_terms
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.trace.trace_text import TraceRequest, of_case, of_finding
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind, format_of
from channelsim.clsp.values import NIL
from channelsim.games.chance import Chance
from channelsim.games.names import nearest_or_all
from channelsim.games.selfplay import turns
from channelsim.games.vectors import BadCase, Case, read

MOST = 300
"""The most cases of a file that can be chosen."""

LONGEST = 100
"""The most moves of a hand."""

SEED = b"debug"


def requests_of_file(path: Path, target: str | None) -> list[TraceRequest]:
    """The case of a finding, or the cases of a file of them. Raises `UsageError`."""
    data = input_files.read(path, input_files.LINES)
    programs = None if target is None else load(target, partial=True)
    if format_of(data) is not None:
        return [of_finding(path, parsed(path, data), programs)]
    try:
        cases = list(islice(read(input_files.lines_of(data)), MOST))
    except BadCase as error:
        check_kind(path, data, Kind.CASES, Kind.FINDING)
        raise UsageError(f"{path}: {error}") from None
    if not cases:
        raise UsageError(f"{path}: has no cases")
    return [of_case(path, case, programs) for case in cases]


def requests_of_target(target: Target) -> list[TraceRequest]:
    """The moves of an honest hand, or the cases of the file of honest play. Raises `UsageError`."""
    target.check_playable()
    cases = islice(target.honest, MOST) if target.rules is None else _hand(target)
    requests = [
        of_case(Path(target.source), case, target)
        for case in cases
        if case.validator not in target.missing
    ]
    if not requests:
        raise UsageError(f"{target.name}: no move of a hand is judged by a program")
    return requests


def _hand(target: Target) -> Iterator[Case]:
    """The moves of a hand on plain terms, each judged with the evidence that its opponent has."""
    first = next(iter(target.game.policies.values()))
    played = turns(target.game, target.hashes, plain_terms(target), (first, first), Chance(SEED))
    for number, turn in enumerate(islice(played, LONGEST), 1):
        site = site_of(target, turn)
        evidence = site.held[-1] if site.held else NIL
        call = site.play.move, site.play.share, evidence
        yield vector(target, site, call, site.rules_say(target, *call), "honest play", number)


def position(requests: list[TraceRequest], name: str) -> int:
    """The place of a case, by its id or its number from 1. Raises `UsageError`."""
    ids = ["" if request.asked is None else request.asked[1].id for request in requests]
    if name in ids:
        return ids.index(name)
    if name.isdigit() and 0 < int(name) <= len(requests):
        return int(name) - 1
    raise UsageError(f"--case {name[:60]}: no such case{nearest_or_all(name, ids)}")
