"""`channelsim trace`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from channel.lab.trace.steps import NODES
from channel.lab.trace.tracing import read, told
from channel.report.progress import progress


def trace(file: Path, *, target: str | None, case: str | None, verbosity: int) -> int:
    """Print the steps of one run; the exit code."""
    with progress("trace"):
        lines: Iterator[str] = told(read(file, target, case), min(verbosity, NODES))
        first = list(islice(lines, 1))  # the run itself is made for it
    for line in chain(first, lines):
        print(line)
    return 0
