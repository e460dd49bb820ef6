"""`channelsim vectors check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from channel.errors import UsageError
from games.vectors import BadCase, read
from games.vectors import check as check_case

SHOWN = 20
"""How many failures are told; the rest are counted."""


def check(files: Sequence[Path]) -> int:
    """Run every case of these files; the exit code, 1 when one fails."""
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
                differences = check_case(case)
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
