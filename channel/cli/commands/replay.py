"""`channelsim replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import OutputForm, Quiet, file_argument, text


def command(
    files: Annotated[
        list[Path], file_argument("Transcripts that `play` wrote, or findings of `fuzz`.")
    ],
    *,
    form: OutputForm,
    quiet: Quiet = False,
    target: Annotated[
        str | None,
        text("For findings: try them on this target (the one they were found in)."),
    ] = None,
) -> int:
    """Replay transcripts and findings.

    Every line of a transcript, and its digest, must come out the same. For a finding, exit code 1
    means that it still happens. Of several files, the exit code is the highest.

    Example: channelsim replay session.jsonl
    """
    from channelsim.channel.cli.work.replay import replay

    return replay(files, form, target, quiet=quiet)
