"""The output folder of commands that write a corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.system.output import check_folder


def check_output(folder: Path, read: Iterable[Path]) -> None:
    """Check that a corpus can be written to a folder without burying another one in it.

    It may replace a corpus that was read. Raises `UsageError`.
    """
    check_folder("-o", folder)
    own = any(os.path.realpath(path) == os.path.realpath(folder) for path in read)
    if not own and any(folder.glob("*.jsonl")):
        raise UsageError(f"-o {folder}: has another corpus in it already; name another folder")
