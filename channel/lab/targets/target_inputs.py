"""The files that a target is made of, and digests of all that decides on what a campaign finds.

A command waits for one of the files to change; a campaign checks that its workers have the same.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.campaign.job import check_plugins, plugin_inputs
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target import Target
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
    yield from islice(chain.from_iterable(map(_inside, folders)), MOST)


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


def target_inputs(target: Target) -> dict[str, str]:
    """Digests in hex, by what they are of.

    Tree hashes of the programs; SHA-256 of an author's files of rules and of hidden values, and of
    recorded play. The rules of an installed game are named; packages of plug-ins with the game, a
    policy of it, or a law have their version and a digest.
    """
    inputs = {
        f"program {name}": program.hash.hex() for name, program in target.with_referee.items()
    }
    if target.rules is not None:
        inputs["rules"] = target.rules
    if target.rules_file is not None:
        data = input_files.read(target.rules_file, input_files.SOURCE)
        inputs["file of rules"] = sha256(data).hexdigest()
    if target.hidden_file is not None:
        data = input_files.read(target.hidden_file, input_files.SOURCE)
        inputs["file of hidden values"] = sha256(data).hexdigest()
    if target.honest:
        inputs["recorded play"] = sha256(msgspec.json.encode(target.honest)).hexdigest()
    return inputs | plugin_inputs(
        lambda group, name: group == "laws" or name.partition(":")[0] == target.rules
    )


def check_inputs(target: Target, inputs: Mapping[str, str]) -> None:
    """Check on a worker that a target is the one of its campaign, which has these inputs.

    A file of rules does not travel: it may have changed, or be another one on another machine.
    Raises `UsageError`.
    """
    check_plugins(inputs)
    for name, digest in target_inputs(target).items():
        if inputs.get(name) != digest:
            raise UsageError(
                f"{target.name}: a worker has another {name} than the campaign began with;"
                " install the same one everywhere, and start again if it was changed"
            )
