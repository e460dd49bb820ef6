"""The work of `channelsim trace`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from channelsim.channel.lab.trace.steps import NODES
from channelsim.channel.lab.trace.trace_text import read, trace_text
from channelsim.channel.report.progress import progress


def trace(file: Path, case: str | None, target: str | None, verbose: int) -> int:
    """Show the steps of one run, by function name, up to the operator that decided."""
    with progress("trace"):
        lines: Iterator[str] = trace_text(read(file, target, case), min(verbose, NODES))
        first = list(islice(lines, 1))  # the run itself happens here
    for line in chain(first, lines):
        print(line)
    return 0
