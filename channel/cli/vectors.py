"""`channelsim vectors check` and `channelsim vectors make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from channel.errors import UsageError
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
    checker = _checker(target)
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
                if not differences:
                    passed += 1
                    continue
                failed += 1
                if failed <= SHOWN:
                    print(f"{path}: {case.id} ({case.tag}): {'; '.join(differences)}")
        except BadCase as error:
            raise UsageError(f"{path}: {error}") from None
    if failed > SHOWN:
        print(f"and {failed - SHOWN} more")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


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
    try:
        with output.open("wb") as file:
            for case in make_cases(target, cases, seed):
                file.write(encoder.encode(case) + b"\n")
    except OSError as error:
        raise UsageError(f"-o {output}: cannot be written ({error.strerror})") from None
    print(f"{cases} cases in {output}")
    return 0
