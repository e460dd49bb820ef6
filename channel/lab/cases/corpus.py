"""A stored corpus: files of cases for each validator of a target, and for its referee.

`<validator>.jsonl` has conformance cases. `referee.jsonl` has spends, an object a line: `id`,
`tag`, `puzzle` (the eleven curried fields), `solution` and `expect`, `valid` or `raise`.

The tag of cases that play can reach begins with `play`. A game may have a corpus in its package:
the folder `corpus`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.cases.trial import RUNAWAY
from channelsim.channel.lab.sites.honest_play import Recorded, recorded_sites, site_of_case
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.channel.system.interrupt import held
from channelsim.channel.system.output import write_whole
from channelsim.clsp.programs import Program
from channelsim.clsp.run import (
    MAX_COST,
    CostExceeded,
    Outcome,
    ProgramSlash,
    ProgramValid,
    Raised,
    is_cut_off,
    run_serialized,
)
from channelsim.clsp.values import NotAList, Value, from_list, serialize
from channelsim.games import vectors
from channelsim.games.amounts import counted
from channelsim.games.contract import Play, Position, Seat, Validator
from channelsim.games.decoding import line_error
from channelsim.games.errors import BadState
from channelsim.games.evidence import Evidence
from channelsim.games.registry import package_of
from channelsim.games.vectors import BadCase, Case, ResolvedCase, read_value, resolve_case

L = TypeVar("L", bound="Case | RefereeSpend")

FOLDER = "corpus"
"""The name of the folder in a game's package."""

PLAY, STATE = "play", "state"
"""Tags: play can reach it; only a changed state does."""

FIELDS = 11
"""The number of fields that are curried into a referee."""


class RefereeSpend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One spend of a game coin. `puzzle` and `solution` are values as in conformance cases, in
    which ``{"source": name}`` stands for the code of a program."""

    id: str
    tag: str
    puzzle: list[Any]
    solution: Any
    expect: Literal["valid", "raise"]


class StoredCase(msgspec.Struct, frozen=True):
    """A line of a corpus that was run: its program, and the serialized environment.

    `differs` says how the outcome of the program, or the verdict of the rules, is not the one
    expected, None where it is. `case` is the line of a validator, None for a spend. `stopped`: it
    was not run to its end, since its program was cut off in a case before.
    """

    id: str
    program: str
    arguments: bytes
    differs: str | None
    case: Case | None = None
    stopped: bool = False


@dataclass(frozen=True)
class CaseRuns:
    """Runs of stored cases on the programs of one target.

    A run that is cut off takes seconds. Once one was, `RUNAWAY` cost is all that other cases of
    that program are given; those that need more are `stopped`: nobody knows how they end.
    """

    target: Target
    runaway: set[str] = field(default_factory=set)
    stopped: Counter[str] = field(default_factory=Counter)

    def stored(self, written: Case | RefereeSpend) -> StoredCase:
        """Run a line of a corpus. Raises `BadCase`."""
        if isinstance(written, RefereeSpend):
            return _stored_spend(self.target, written)
        name, programs = self.target.name, self.target.family_programs
        arguments = vectors.arguments(written, name, programs)
        differences = self.differences(written)
        differs = "not run to its end" if differences is None else "; ".join(differences)
        stopped = differences is None
        return StoredCase(
            written.id, written.validator, arguments, differs or None, written, stopped
        )

    def differences(self, case: Case) -> list[str] | None:
        """Compare a case with the program and with the rules: a line for each difference; None
        where it was not run to its end.

        Whether play reaches the state does not matter: a case says what is expected in it.
        """
        target, before = self.target, self.stopped.total()
        differences: list[str] = []
        if case.validator not in target.missing:
            run = partial(self._run, case.validator)
            differences = vectors.check_program(case, target.name, target.family_programs, run)
        if self.stopped.total() > before:
            return None
        validator = rules_of_case(target, case)
        if validator is not None:
            differences += vectors.check_rules(case, target.name, validator, target.family_hashes)
        return differences

    def _run(self, name: str, program: bytes, arguments: bytes) -> Outcome:
        limit = RUNAWAY if name in self.runaway else MAX_COST
        outcome = run_serialized(program, arguments, limit)
        if is_cut_off(outcome):
            if name in self.runaway:
                self.stopped[name] += 1
            self.runaway.add(name)
        return outcome


def not_run(stopped: Mapping[str, int]) -> str:
    """Say how many cases of which programs were not run to their end; empty for none."""
    return ", ".join(
        f"{counted(count, 'case')} of {name}, which was cut off before"
        for name, count in sorted(stopped.items())
    )


def read(target: Target, folder: Path, runs: CaseRuns | None = None) -> Iterator[StoredCase]:
    """Run the cases of all files in a folder, but of validators without a program.

    Cases of all games of the target's family count; programs that only others have are left out.
    Raises `UsageError`, naming file and line.
    """
    empty, runs = True, runs or CaseRuns(target)
    for path in corpus_files(folder):
        others = path.stem in target.family_programs and path.stem not in target.programs
        if path.stem in target.missing or others:
            continue
        if path.stem not in target.with_referee:
            known = ", ".join([*target.programs, REFEREE])
            raise UsageError(f"{path}: {target.name} has no program {path.stem!r}; it has {known}")
        for case in _read_file(runs, path):
            empty = False
            yield case
    if empty:
        raise UsageError(f"{folder}: has no cases")


def wrong_cases(target: Target, folder: Path) -> list[StoredCase]:
    """The cases in a folder, which need not exist, on which program or rules differ from what they
    expect. Raises `UsageError`, naming file and line."""
    paths, runs = [folder / f"{name}.jsonl" for name in target.with_referee], CaseRuns(target)
    return [
        case
        for path in paths
        if not input_files.is_missing(path)
        for case in _read_file(runs, path)
        if case.differs is not None and not case.stopped
    ]


def _read_file(runs: CaseRuns, path: Path) -> Iterator[StoredCase]:
    """Run the cases of one file."""
    spends = path.stem == REFEREE and REFEREE not in runs.target.programs
    kind: type[Case | RefereeSpend] = RefereeSpend if spends else Case
    data = input_files.read(path, input_files.LINES)
    for number, written in corpus_lines(path, data, kind):
        try:
            check_file(path, written)
            yield runs.stored(written)
        except BadCase as error:
            raise UsageError(f"{path}: line {number}: {error}") from None


def own_corpus(target: Target) -> Path | None:
    """The folder of stored cases in an installed game's package; None where there is none."""
    if target.rules is None or target.rules != target.source:
        return None
    package = package_of(target.rules)
    folder = files(package) / FOLDER if package else None
    return folder if isinstance(folder, Path) and folder.is_dir() else None


def corpus_files(folder: Path) -> list[Path]:
    """The files of a corpus, by name. Raises `UsageError` where there are none."""
    if not folder.is_dir():
        what = (
            "no such folder"
            if input_files.is_missing(folder)
            else "not a folder; a corpus is one with a `VALIDATOR.jsonl` for each validator"
        )
        raise UsageError(f"{folder}: {what}")
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise UsageError(f"{folder}: has no .jsonl files")
    return files


def corpus_lines(path: Path, data: bytes, kind: type[L]) -> Iterator[tuple[int, L]]:
    """The cases or spends in a file that was read, with the numbers of their lines from 1.

    Raises `UsageError`, naming file and line.
    """
    for number, line in enumerate(input_files.lines_of(data), 1):
        if not line.strip():
            continue
        try:
            written = msgspec.json.decode(line, type=kind)
            if isinstance(written, Case):
                vectors.check_values(written)
        except (msgspec.DecodeError, BadCase, UnicodeDecodeError, RecursionError) as error:
            check_kind(path, data, Kind.SPENDS if kind is RefereeSpend else Kind.CASES)
            raise UsageError(f"{path}: {line_error(error, number, line, kind)}") from None
        yield number, written


def check_file(path: Path, written: Case | RefereeSpend) -> None:
    """Check that a case is in the file of its validator. Raises `BadCase`."""
    if isinstance(written, Case) and written.validator != path.stem:
        raise BadCase(f"{written.id} is a case of {written.validator}, not of {path.stem}")


def rules_of_case(target: Target, case: Case) -> Validator | None:
    """The rules for a case: those of its own game where that is of the target's family."""
    games = [game for game in target.family if case.validator in game.programs]
    own = [game for game in games if game.rules == case.game] or games
    return own[0].rules_of(case.validator) if own else None


def _stored_spend(target: Target, written: RefereeSpend) -> StoredCase:
    """Run a spend. The referee's environment is its fields, then the solution."""
    programs = target.with_referee

    def program(name: str) -> Program:
        if name not in programs:
            raise BadCase(f"{target.name} has no program {name!r}")
        return programs[name]

    def value(described: Any, key: str) -> Value:
        return read_value(
            described, key, lambda name: program(name).hash, lambda name: program(name).value
        )

    fields = value(written.puzzle, "puzzle")
    if len(written.puzzle) != FIELDS:
        raise BadCase(f"key `puzzle`: {len(written.puzzle)} fields, not {FIELDS}")
    arguments = serialize((fields, value(written.solution, "solution")))
    outcome = run_serialized(target.referee.serialized, arguments)
    said = _said(outcome)
    differs = None if said == written.expect else f"expected {written.expect}, got {said}"
    return StoredCase(written.id, REFEREE, arguments, differs)


def _said(outcome: Outcome) -> str:
    """The outcome of a spend in one word: a list of conditions, even an empty one, is valid."""
    match outcome:
        case ProgramSlash():
            return "valid"
        case ProgramValid(value):
            try:
                from_list(value)
            except NotAList:
                return "no list"
            return "valid"
        case Raised():
            return "raise"
        case CostExceeded():
            return "cost exceeded"


# --- cases of a corpus ------------------------------------------------------------------------


def site_cases(target: Target, folder: Path) -> list[SiteCase]:
    """The cases in a folder, at their sites; those whose state means nothing to the rules are left
    out, and those of other games of its family. Raises `UsageError`, naming file and line."""
    cases: list[SiteCase] = []
    if not folder.is_dir():
        return cases
    others = {other.rules for other in target.family[1:]}
    honest = {(site.validator, serialize(site.state)): site for site in recorded_sites(target)}
    for name in target.programs:
        path = folder / f"{name}.jsonl"
        if input_files.is_missing(path):
            continue
        data = input_files.read(path, input_files.LINES)
        for number, case in corpus_lines(path, data, Case):
            try:
                check_file(path, case)
                here = None if case.game in others else _at_its_site(target, case, honest)
            except BadCase as error:
                raise UsageError(f"{path}: line {number}: {error}") from None
            if here is not None:
                cases.append(here)
    return cases


def _at_its_site(
    target: Target, case: Case, honest: Mapping[tuple[str, bytes], Site]
) -> SiteCase | None:
    """The case at its site; None for a state that means nothing to the rules."""
    try:
        asked = resolve_case(case, target.name, target.hashes)
    except BadCase:
        resolve_case(case, target.name, target.family_hashes)  # raises for an unknown program
        return None  # no game of this target has such a state
    if target.rules is None:
        site = honest.get((case.validator, serialize(asked.state)))
        # The state of a hand that was played again is in no record.
        site = site or msgspec.structs.replace(site_of_case(target, asked), guessed=True)
    elif (site := _site(target, asked)) is None:
        return None
    return make_case(site, case.tag, asked.move, case.mover_share, asked.evidence)


def _site(target: Target, asked: ResolvedCase) -> Site | None:
    """The site of a case of a game with rules; None where they refuse its state."""
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


# --- writing ----------------------------------------------------------------------------------


def write_files(option: str, folder: Path, lines: Mapping[str, Iterable[bytes]]) -> None:
    """Write a file of lines for each program. Raises `UsageError`, naming the option."""
    with held():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{option} {folder}: cannot be written ({error.strerror})") from None
        for name, own in sorted(lines.items()):
            data = b"".join(line + b"\n" for line in own)
            write_whole(option, folder / f"{name}.jsonl", data)


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Add lines to a file, which is replaced as a whole. Raises `UsageError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    if before and not before.endswith(b"\n"):
        before += b"\n"
    write_whole("--corpus", path, before + b"".join(line + b"\n" for line in lines))
