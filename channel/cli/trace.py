"""`channelsim trace`."""

from __future__ import annotations

from pathlib import Path

from channel.lab.steps import NODES
from channel.lab.tracing import read, told


def trace(file: Path, *, target: str | None, case: str | None, verbosity: int) -> int:
    """Print the steps of one run; the exit code."""
    for line in told(read(file, target, case), min(verbosity, NODES)):
        print(line)
    return 0
