"""The folders to which commands write a corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from channelsim.channel.campaign.directory import is_campaign
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system.output import check_folder
from channelsim.games.names import quoted
from channelsim.games.registry import package_of


def check_output(folder: Path, read: Iterable[Path]) -> None:
    """Check that a corpus can be written to a folder without burying another one in it.

    It may replace a corpus that was read. Raises `UsageError`.
    """
    check_folder("-o", folder)
    own = any(os.path.realpath(path) == os.path.realpath(folder) for path in read)
    if not own and any(folder.glob("*.jsonl")):
        raise UsageError(f"-o {folder}: has another corpus in it already; name another folder")


def in_package(folder: Path, target: Target) -> bool:
    """True if a folder is inside of the package of the target's game, with which it is shipped."""
    package = package_of(target.rules) if target.rules is not None else ""
    if not package:
        return False
    real, home = (Path(os.path.realpath(path)) for path in (folder, str(files(package))))
    return real.is_relative_to(home)


def check_fuzzed(folder: Path, programs: Iterable[str]) -> None:
    """Check that a fuzzer may add cases to a folder: a corpus of these programs, or an empty one.

    It need not be there yet. Raises `UsageError`.
    """
    check_folder("--corpus", folder)
    if is_campaign(folder):
        raise UsageError(
            f"--corpus {folder}: the folder of a campaign, to which only the campaign adds;"
            " `channelsim corpus merge` copies its corpus to a folder of its own"
        )
    if not folder.is_dir() or any((folder / f"{name}.jsonl").is_file() for name in programs):
        return
    others = sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))
    if others:
        raise UsageError(
            f"--corpus {folder}: no corpus of this target: it has {quoted(others[0])} in it, and"
            " no file of cases of a validator; name an empty folder or a new one"
        )
