"""The files that a target is made of, so that a command can wait for one of them to change."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from channelsim.channel.errors import UsageError
from channelsim.channel.system import input_files

SUFFIXES = (".clsp", ".clinc", ".clib", ".clvm", ".cl", ".hex", ".py", ".jsonl", ".toml")
"""The suffixes of sources, includes, compiled programs, rules and cases."""

MOST = 5000
"""The most files that are watched in all of these folders together."""


def target_files(path: Path) -> Iterator[Path]:
    """The target file, the files that it names, and what is in the folders of its includes.

    Of a file that is no TOML for now, only itself.
    """
    yield path
    try:
        table = tomllib.loads(input_files.read_text(path, input_files.TOML))
    except (UsageError, tomllib.TOMLDecodeError, RecursionError):
        return
    here = path.resolve().parent
    folders: dict[Path, None] = {}
    for name in _texts(table):
        try:
            named = (here / name).resolve()
            if named.is_dir():
                folders[named] = None
            elif named.suffix in SUFFIXES:
                folders[named.parent] = None
                yield named
        except (OSError, ValueError):
            continue
    left = MOST
    for folder in folders:
        for file in _inside(folder):
            left -= 1
            if left < 0:
                return
            yield file


def _texts(value: Any) -> Iterator[str]:
    """Every text in a table that was read from TOML."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for item in value.values():
                yield from _texts(item)
        case _:
            pass


def _inside(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(SUFFIXES))
