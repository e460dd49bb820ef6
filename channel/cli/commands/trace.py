"""`channelsim trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.options import file_argument


def command(
    file: Annotated[Path, file_argument("Conformance cases (.jsonl), or a finding (.json).")],
    case: Annotated[
        str | None, typer.Option(help="The id of a case in the file (the first one).")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="A TOML file: trace its programs instead of the game's.")
    ] = None,
    verbose: Annotated[
        int, typer.Option("-v", count=True, help="-v: every operator; -vv: every node.")
    ] = 0,
) -> int:
    """Show the steps of one run, by function name, up to the operator that decided.

    Example: channelsim trace cases.jsonl --case my-case
    """
    from channelsim.channel.cli.work.trace import trace

    return trace(file, case, target, verbose)
