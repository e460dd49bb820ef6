"""`channelsim corpus minimize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import Json, NoProgress, file_argument, file_option, text


def command(
    corpus: Annotated[
        Path, file_argument("A folder of cases, as `fuzz --corpus` has them, or a file.")
    ],
    output: Annotated[Path, file_option("The folder to write.", "-o", "--output")],
    target: Annotated[
        str | None,
        text("The target whose programs run the cases (the game that they name)."),
    ] = None,
    json: Json = False,
    quiet: NoProgress = False,
) -> int:
    """Keep few cases that reach every node, branch and highest cost that the corpus reaches.

    The folder to write is new, empty, or the corpus itself.

    Example: channelsim corpus minimize both -o small
    """
    from channelsim.channel.cli.work.corpus_minimize import minimize

    return minimize(corpus, output, target, json=json, quiet=quiet)
