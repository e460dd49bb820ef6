"""`channelsim vectors check` and `channelsim vectors make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from channel.cli.options import all_tried
from channel.errors import UsageError
from channel.report.terminal import console, say
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
    checker, programs = _checker(target)
    out = console()
    seen: set[str] = set()
    passed = failed = 0
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
        except UnicodeDecodeError:
            raise UsageError(f"{path}: not a text file") from None
        if not any(line.strip() for line in lines):
            raise UsageError(f"{path}: has no cases")
        try:
            for case in read(lines):
                differences = checker(case)
                seen.add(case.validator)
                if not differences:
                    passed += 1
                    continue
                failed += 1
                if failed <= SHOWN:
                    say(out, f"{path}: {case.id} ({case.tag}): {'; '.join(differences)}")
        except BadCase as error:
            raise UsageError(f"{path}: {error}") from None
    if failed > SHOWN:
        say(out, f"and {failed - SHOWN} more")
    say(out, f"{passed} passed, {failed} failed")
    every = all_tried(str(target), programs, seen, "these files have no case of it")
    return 1 if failed or not every else 0


def _checker(target: Path | None) -> tuple[Callable[[Case], list[str]], Sequence[str]]:
    """What checks a case, and the programs that must have one: all of a target's."""
    if target is None:
        return check_case, ()
    from channel.lab.target import read as read_target

    tried = read_target(target)
    return lambda case: check_program(case, tried.name, tried.programs), list(tried.programs)


def make(game: str, *, cases: int, seed: str, output: Path) -> int:
    """Write so many generated cases of an installed game; the exit code."""
    from channel.lab.target import of_game
    from channel.lab.vectors import make as make_cases

    try:
        target = of_game(registry.get(game))
    except UnknownGame as error:
        raise UsageError(str(error)) from None
    encoder = msgspec.json.Encoder()
    try:
        with output.open("wb") as file:
            for case in make_cases(target, cases, seed):
                file.write(encoder.encode(case) + b"\n")
    except OSError as error:
        raise UsageError(f"-o {output}: cannot be written ({error.strerror})") from None
    say(console(), f"{cases} cases in {output}")
    return 0
