"""`channelsim debug`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.cli.options import text


def command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|TARGET",
            help="A finding (.json), conformance cases (.jsonl), or a target, of which an honest"
            " hand is played.",
        ),
    ],
    target: Annotated[str | None, text("Of a file: the target whose programs are run.")] = None,
    case: Annotated[str | None, text("The id or the number of the case to begin with (1).")] = None,
) -> int:
    """Step through one case, forward and back, with the author's source beside each step.

    Commands come from the standard input, which may be a pipe; its end ends the debugger.

    Example: channelsim debug {game}
    """
    from channelsim.channel.cli.work.debug import debug

    return debug(file, target, case)
