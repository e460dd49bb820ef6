"""`channelsim trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.options import file_argument, text


def command(
    file: Annotated[Path, file_argument("Conformance cases (.jsonl), or a finding (.json).")],
    case: Annotated[str | None, text("The id of a case in the file (the first one).")] = None,
    target: Annotated[
        str | None, text("A TOML file: trace its programs instead of the game's.")
    ] = None,
    verbose: Annotated[
        int, typer.Option("-v", count=True, help="-v: every operator; -vv: every node.")
    ] = 0,
) -> int:
    """Show the steps of one run, by function name, up to the operator that decided.

    Example: channelsim trace cases.jsonl --case my-case
    """
    from collections.abc import Iterator
    from itertools import chain, islice

    from channelsim.channel.lab.trace.steps import NODES, WIDTH
    from channelsim.channel.lab.trace.trace_text import read, trace_text
    from channelsim.channel.report.progress import progress
    from channelsim.channel.report.terminal import console

    width = min(WIDTH, console().width)
    with progress("trace"):
        lines: Iterator[str] = trace_text(read(file, target, case), min(verbose, NODES), width)
        first = list(islice(lines, 1))  # the run itself happens here
    for line in chain(first, lines):
        print(line)
    return 0
