"""Load a target: an installed game, or the programs that a TOML file names.

name    = "my game"
rules   = "GAME"                   # optional: the installed game whose rules these obey, or a
                                   # file `rules.py` with rules for some of the validators
include = ["."]                    # folders for Chialisp includes, relative to this file
[programs]                         # validator's name -> source, or compiled .hex
first   = "onchain/first.clsp"
[referee]                          # optional; otherwise ours
program = "referee.clsp"
[play]                             # without `rules`: legal moves, as conformance cases
honest  = "honest.jsonl"
driver  = "driver.py"              # optional: `channelsim record` writes that file by it
hidden  = "hidden.py"              # optional: what players hide, as `Game.hidden` declares it
[fuzz]                             # optional, and so for other commands: defaults of options
seconds = 120
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.sources import Sources
from channelsim.channel.lab.targets.target import REFEREE, Target, of_game
from channelsim.channel.system import input_files, toml_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.channel.system.toml_files import TomlFile
from channelsim.clsp.programs import with_symbols
from channelsim.games import registry
from channelsim.games.errors import UnknownGame
from channelsim.games.names import nearest, nearest_or_all, printable
from channelsim.games.referee import referee
from channelsim.games.vectors import BadCase, Case, resolve_case
from channelsim.games.vectors import read as read_cases

LONGEST_NAME = 60
"""Names of targets and programs are used in tables and in file names."""


def is_name(name: str) -> bool:
    """True if a target can have this name."""
    return bool(name.strip()) and len(name) <= LONGEST_NAME and name.isprintable()


def is_program_name(name: str) -> bool:
    """True if a program can have this name: a file of a corpus is named after it.

    >>> is_program_name("show down"), is_program_name("../a")
    (True, False)
    """
    return is_name(name) and "/" not in name


class _Referee(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    program: str


class _Play(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    honest: str
    driver: str | None = None
    hidden: str | None = None


Options: TypeAlias = dict[str, Any]
"""The options of a command, by name: numbers, texts, and true or false."""


class TargetFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a target's file. The last tables are defaults of commands' options."""

    name: str
    programs: dict[str, str]
    rules: str | None = None
    include: tuple[str, ...] = ()
    referee: _Referee | None = None
    play: _Play | None = None
    conform: Options = {}
    fuzz: Options = {}
    crosscheck: Options = {}
    prove: Options = {}
    mutants: Options = {}
    coverage: Options = {}
    cost: Options = {}
    record: Options = {}


def load(text: str, partial: bool = False) -> Target:
    """A target as the command line names it: a game, or a TOML file. Raises `UsageError`.

    `partial`: a game may lack programs (`Target.missing`).

    >>> load("nothing.toml")
    Traceback (most recent call last):
    channelsim.channel.errors.UsageError: nothing.toml: cannot be read (No such file or directory)
    """
    if not text.strip():
        raise UsageError(f"{text!r}: neither a game nor the name of a file")
    if text in registry.names():
        try:
            target = of_game(registry.asked(text))
        except UnknownGame as error:
            raise UsageError(str(error)) from None
        if target.missing and not partial:
            raise UsageError(
                f"{text} has no program of {', '.join(target.missing)}: this needs them all;"
                " `play`, `vectors`, `crosscheck`, `fuzz`, `coverage` and `conform` do not"
            )
        return target
    path = Path(text)
    if path.suffix != ".toml" and input_files.is_missing(path):
        raise UsageError(
            f"{printable(text)}{nearest(text, registry.names())}: neither an installed game"
            f" ({', '.join(registry.names())}) nor a .toml file"
        )
    return read(path)


def read(path: Path, honest_play: bool = True) -> Target:
    """The target in a TOML file, its sources compiled. Raises `UsageError`, naming the place.

    Without `honest_play` the file of honest play is not read, and need not be there.
    """
    written = toml_files.read(path, TargetFile, Kind.TARGET)
    file = written.value
    _check_names(written)
    here = path.resolve().parent
    folders = tuple(here / folder for folder in file.include)
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{written.where('include')}: include: {folder.name}: no such folder")
    own = here / file.rules if file.rules and _is_file(file.rules) else None
    rules = None if own else file.rules
    hidden = _hidden(written, rules)
    honest = _honest(written, here / file.play.honest) if file.play and honest_play else ()
    sources = {name: here / source for name, source in file.programs.items()}
    for name, source in sources.items():
        _check_file(written, "programs", name, source, file.programs[name])
    if file.referee is not None:
        program = file.referee.program
        _check_file(written, "referee", "program", here / program, program)
    try:
        programs, judge = Sources(sources, folders).compile(), with_symbols(referee())
        if file.referee is not None:
            sources[REFEREE] = here / file.referee.program
            judge = Sources({REFEREE: sources[REFEREE]}, folders).compile()[REFEREE]
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    used = Sources(sources, folders)
    target = Target(file.name, programs, judge, rules, honest, str(path), used, own, hidden)
    _ = target.hidden  # raises `UsageError` for a wrong file
    if own is not None:
        if file.play is None:
            raise UsageError(
                f"{written.where('rules')}: rules: {own.name} judges moves, but plays none; add"
                ' `[play]` with `honest = "honest.jsonl"`, a file of legal moves'
            )
        _ = target.own_rules  # raises `UsageError` for a wrong file
    return target


def _hidden(written: TomlFile[TargetFile], rules: str | None) -> Path | None:
    """The file of `[play] hidden`, if any is named. Raises `UsageError` where a game declares what
    its players hide."""
    play = written.value.play
    if play is None or play.hidden is None:
        return None
    if rules is not None:
        where = written.where("play", "hidden")
        raise UsageError(f"{where}: [play] hidden: {rules} declares what its players hide")
    path = written.path.resolve().parent / play.hidden
    _check_file(written, "play", "hidden", path, play.hidden)
    return path


def _is_file(rules: str) -> bool:
    return rules.endswith(".py")


@dataclass(frozen=True, slots=True)
class PlayFiles:
    """The files that `[play]` names: honest play, which may not be there yet, and its driver."""

    honest: Path
    driver: Path


def play_files(path: Path) -> PlayFiles:
    """The files that a target names under `[play]`. Raises `UsageError` if it names no driver."""
    written = toml_files.read(path, TargetFile, Kind.TARGET)
    play = written.value.play
    if play is None or play.driver is None:
        raise UsageError(
            f"{path}: names no driver to play its hands; add"
            ' `[play]` with `honest = "honest.jsonl"` and `driver = "driver.py"`'
        )
    here = path.resolve().parent
    _check_file(written, "play", "driver", here / play.driver, play.driver)
    return PlayFiles(here / play.honest, here / play.driver)


def _check_file(
    written: TomlFile[TargetFile], table: str, key: str, path: Path, named: str
) -> None:
    """Check that a key names a file. Raises `UsageError` with the line."""
    where = f"{written.where(table, key)}: [{table}] {key}"
    if path.is_dir():
        raise UsageError(f"{where}: {named!r} is a folder, not a file")
    if input_files.is_missing(path):
        raise UsageError(f"{where}: no file {named}")


def _honest(written: TomlFile[TargetFile], path: Path) -> tuple[Case, ...]:
    """The cases of `[play] honest`. Raises `UsageError`."""
    file = written.value
    place = f"{written.where('play', 'honest')}: [play] honest"
    where = f"{place}: {path.name}"
    try:
        data = input_files.read(path, input_files.LINES)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    try:
        cases = tuple(read_cases(input_files.lines_of(data)))
    except BadCase as error:
        check_kind(path, data, Kind.CASES)
        raise UsageError(f"{where}: {error}") from None
    for case in cases:
        for validator in (case.validator, case.next.validator if case.next else case.validator):
            if validator not in file.programs:
                near = nearest_or_all(validator, file.programs)
                raise UsageError(f"{where}: case {case.id}: no program {validator!r}{near}")
        try:
            resolve_case(case, file.name, dict.fromkeys(file.programs, b""))
        except BadCase as error:
            raise UsageError(f"{where}: case {case.id}: {error}") from None
        if case.expect == "valid" and not 0 <= case.mover_share <= case.amount:
            raise UsageError(f"{where}: case {case.id}: the share is not within the amount")
    if not any(case.expect == "valid" for case in cases):
        raise UsageError(f"{where}: has no legal move")
    return cases


def _check_names(written: TomlFile[TargetFile]) -> None:
    """Check that the rules are installed, and that they have validators of the programs' names."""
    file, path = written.value, written.path
    if not file.programs:
        raise UsageError(f"{written.where('programs')}: [programs] names none")
    for name in (file.name, *file.programs):
        if not is_name(name):
            raise UsageError(
                f"{path}: {name[:LONGEST_NAME]!a} is not a name: 1 to"
                f" {LONGEST_NAME} printable characters"
            )
    for name in file.programs:
        if not is_program_name(name):
            raise UsageError(f"{path}: {name!a} is not a name of a program: it has a /")
    if file.rules is None:
        return
    if _is_file(file.rules):
        if input_files.is_missing(path.resolve().parent / file.rules):
            raise UsageError(f"{written.where('rules')}: rules: no file {file.rules}")
        return
    try:
        game = registry.asked(file.rules)
    except UnknownGame as error:
        raise UsageError(f"{written.where('rules')}: rules: {error}") from None
    for name in file.programs:
        if name not in game.validators:
            where, near = written.where("programs", name), nearest_or_all(name, game.validators)
            raise UsageError(f"{where}: [programs] {name}: {game.name} has no such validator{near}")
    for name in game.validators:
        if name not in file.programs:
            where = written.where("programs")
            raise UsageError(f"{where}: [programs] lacks {name}, which {game.name} has")
