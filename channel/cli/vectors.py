"""`channelsim vectors check` and `channelsim vectors make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from channel.cli.options import all_tried
from channel.errors import UsageError
from channel.report.progress import Bar, progress
from channel.report.terminal import console, say
from channel.system import input_files
from channel.system.file_kinds import Kind, check_kind
from channel.system.interrupt import exit_code, polled
from channel.system.output import opened
from games import registry
from games.errors import UnknownGame
from games.vectors import BadCase, Case, check_program, read
from games.vectors import check as check_case

SHOWN = 20
"""How many failures are told; the rest are counted."""


def check(files: Sequence[Path], target: Path | None = None) -> int:
    """Run every case of these files; the exit code, 1 when one fails, or a target's program has
    none.

    With a target its programs are tried, and nothing else; without one, rules and programs.
    """
    tried = _Tried()
    out = console()
    with progress("cases", "cases") as bar:
        try:
            checker, programs = _checker(target)
            with polled() as interrupted:
                for path in files:
                    _check_file(path, checker, tried, bar, interrupted)
        except UsageError:
            # What failed before the trouble is told all the same.
            for line in tried.shown:
                say(out, line)
            raise
    for line in tried.told():
        say(out, line)
    every = tried.interrupted or all_tried(
        str(target), programs, tried.validators, "these files have no case of it"
    )
    return exit_code(tried.interrupted, failed=bool(tried.failed) or not every)


@dataclass
class _Tried:
    """How many cases passed and failed, how the first of these did, and the validators tried."""

    passed: int = 0
    failed: int = 0
    shown: list[str] = field(default_factory=list)
    validators: set[str] = field(default_factory=set)
    interrupted: bool = False

    def told(self) -> list[str]:
        more = [f"and {self.failed - SHOWN} more"] if self.failed > SHOWN else []
        early = "; interrupted: not all cases were run" if self.interrupted else ""
        return [*self.shown, *more, f"{self.passed} passed, {self.failed} failed{early}"]


def _check_file(
    path: Path,
    checker: Callable[[Case], list[str]],
    tried: _Tried,
    bar: Bar,
    interrupted: Callable[[], bool],
) -> None:
    """Run the cases of one file. Raises `UsageError`."""
    data = input_files.read(path, input_files.LINES)
    if not data.strip():
        raise UsageError(f"{path}: has no cases")
    lines = input_files.lines_of(data)
    try:
        for number, case in enumerate(read(lines), 1):
            if interrupted():
                tried.interrupted = True
                return
            differences = checker(case)
            tried.validators.add(case.validator)
            if not differences:
                tried.passed += 1
            else:
                tried.failed += 1
                if tried.failed <= SHOWN:
                    tried.shown.append(f"{path}: {case.id} ({case.tag}): {'; '.join(differences)}")
            bar(number, len(lines))
    except BadCase as error:
        check_kind(path, data, Kind.CASES)
        raise UsageError(f"{path}: {error}") from None


def _checker(target: Path | None) -> tuple[Callable[[Case], list[str]], Sequence[str]]:
    """What checks a case, and the programs that must have one: all of a target's."""
    if target is None:
        return check_case, ()
    from channel.lab.target.target import read as read_target

    tried = read_target(target)
    return lambda case: check_program(case, tried.name, tried.programs), list(tried.programs)


def make(game: str, *, cases: int, seed: str, output: Path) -> int:
    """Write so many generated cases of an installed game; the exit code."""
    from channel.lab.crosscheck.vectors import make as make_cases
    from channel.lab.target.target import of_game

    try:
        target = of_game(registry.get(game))
    except UnknownGame as error:
        raise UsageError(str(error)) from None
    encoder = msgspec.json.Encoder()
    made, interrupted = 0, False
    out = console()
    with opened("-o", output) as file:
        try:
            with progress(f"cases of {game}", "cases") as bar:
                for case in make_cases(target, cases, seed):
                    file.write(encoder.encode(case) + b"\n")
                    made += 1
                    bar(made, cases)
        except KeyboardInterrupt:
            interrupted = True
        if interrupted:
            left = f"; {output} is left as it was" if file.renamed else ""
            say(out, f"interrupted after {made} of {cases} cases{left}")
        else:
            file.finish()
            say(out, f"{cases} cases in {output}")
    return exit_code(interrupted)
