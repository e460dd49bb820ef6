"""`channelsim vectors check` and `channelsim vectors make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from channel import input_files
from channel.cli.progress import Bar, progress
from channel.errors import UsageError
from channel.file_kinds import Kind, check_kind
from channel.interrupt import exit_code, polled
from channel.output import opened
from games import registry
from games.errors import UnknownGame
from games.vectors import BadCase, Case, check_program, read
from games.vectors import check as check_case

SHOWN = 20
"""How many failures are told; the rest are counted."""


def check(files: Sequence[Path], target: Path | None = None) -> int:
    """Run every case of these files; the exit code, 1 when one fails.

    With a target its programs are tried, and nothing else; without one, rules and programs.
    """
    tried = _Tried()
    with progress("cases", "cases") as bar:
        try:
            checker = _checker(target)
            with polled() as interrupted:
                for path in files:
                    _check_file(path, checker, tried, bar, interrupted)
        except UsageError:
            # What failed before the trouble is told all the same.
            for line in tried.shown:
                print(line)
            raise
    print("\n".join(tried.told()))
    return exit_code(tried.interrupted, failed=bool(tried.failed))


@dataclass
class _Tried:
    """How many cases passed and failed, and how the first of these did."""

    passed: int = 0
    failed: int = 0
    shown: list[str] = field(default_factory=list)
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


def _checker(target: Path | None) -> Callable[[Case], list[str]]:
    if target is None:
        return check_case
    from channel.lab.target import read as read_target

    tried = read_target(target)
    return lambda case: check_program(case, tried.name, tried.programs)


def make(game: str, *, cases: int, seed: str, output: Path) -> int:
    """Write so many generated cases of an installed game; the exit code."""
    from channel.lab.target import of_game
    from channel.lab.vectors import make as make_cases

    if cases < 1:
        raise UsageError(f"--cases {cases}: at least 1")
    try:
        target = of_game(registry.get(game))
    except UnknownGame as error:
        raise UsageError(str(error)) from None
    encoder = msgspec.json.Encoder()
    made, interrupted = 0, False
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
            print(f"interrupted after {made} of {cases} cases{left}")
        else:
            file.finish()
            print(f"{cases} cases in {output}")
    return exit_code(interrupted)
