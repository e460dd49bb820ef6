"""The corpus: cases that reached new code, of one fuzzer in memory, and in files for the next.

A corpus is a folder with a file for each validator, `VALIDATOR.jsonl`, of conformance cases. The
tag of those that play can reach begins with `play`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.fields import Probe
from channelsim.channel.lab.cases.guided_mutator import make_case
from channelsim.channel.lab.sites.honest_play import Recorded, recorded_sites, site_of_case
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.target.target import Target
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.clsp.analysis.tracer import Coverage
from channelsim.clsp.values import serialize
from channelsim.games.contract import Play, Position, Seat
from channelsim.games.errors import BadState
from channelsim.games.evidence import Evidence
from channelsim.games.vectors import BadCase, Case, ResolvedCase, resolve_case
from channelsim.games.vectors import read as read_cases

PLAY, STATE = "play", "state"
"""Tags: play can reach it; only a changed state does."""


@dataclass
class Corpus:
    """The probes of each validator that reached something new, and its coverage by all runs."""

    probes: dict[str, list[Probe]] = field(default_factory=lambda: defaultdict(list))
    coverage: dict[str, Coverage] = field(default_factory=lambda: defaultdict(Coverage))


def read_corpus(target: Target, folder: Path) -> list[Probe]:
    """The cases in a folder, as probes; those whose state means nothing to the rules are left
    out, and those of other games of its family. Raises `UsageError`, naming file and line."""
    found: list[Probe] = []
    if not folder.is_dir():
        return found
    others = {other.rules for other in target.family[1:]}
    honest = {(site.validator, serialize(site.state)): site for site in recorded_sites(target)}
    for name in target.programs:
        path = folder / f"{name}.jsonl"
        if input_files.is_missing(path):
            continue
        data = input_files.read(path, input_files.LINES)
        try:
            for case in read_cases(input_files.lines_of(data)):
                if case.validator != name:
                    raise BadCase(f"case {case.id} is of {case.validator!r}, not of {name!r}")
                probe = None if case.game in others else _probe(target, case, honest)
                if probe is not None:
                    found.append(probe)
        except BadCase as error:
            check_kind(path, data, Kind.CASES)
            raise UsageError(f"{path}: {error}") from None
    return found


def _probe(target: Target, case: Case, honest: Mapping[tuple[str, bytes], Site]) -> Probe | None:
    asked = resolve_case(case, target.name, target.hashes)
    if target.rules is None:
        site = honest.get((case.validator, serialize(asked.state)))
        # The state of a hand that was played again is in no record.
        site = site or msgspec.structs.replace(site_of_case(target, asked), guessed=True)
    elif (site := _site(target, asked)) is None:
        return None
    return Probe(site, make_case(site, case.tag, asked.move, case.mover_share, asked.evidence))


def _site(target: Target, asked: ResolvedCase) -> Site | None:
    case = asked.case
    try:
        typed = target.game.validators[case.validator].read_state(asked.state, target.hashes)
    except BadState:
        return None
    before = Position(case.validator, typed, Seat.ALICE, case.amount // 2, case.max_move_size)
    receiver = Recorded(before, (Evidence(asked.evidence, asked.signature),))
    play = Play(asked.move, case.mover_share, asked.evidence)
    natural = case.tag.startswith(PLAY)
    return make_site(target, before, play, case.amount, receiver, natural=natural)
