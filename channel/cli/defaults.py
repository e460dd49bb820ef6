"""Defaults of a command's options, from the target's file and from a package's `pyproject.toml`.

A target may have a table for each command that takes one, with the names of its options:

    [fuzz]
    seconds = 60
    jobs    = 4

In a `pyproject.toml`, in the current folder or above, it is `[tool.channelsim.fuzz]`. The command
line comes first, then the target's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import typer
from typer.core import TyperArgument

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.loading import TargetFile
from channelsim.channel.system import toml_files
from channelsim.channel.system.file_kinds import Kind
from channelsim.channel.system.toml_files import TomlFile
from channelsim.games.names import nearest_or_all, printable

TARGETS = ("target", "game")
"""The names of arguments that are targets."""

NEVER = frozenset(("help", "json", "watch", "resume"))
"""Options that no file sets: they are about one run."""

PYPROJECT = "pyproject.toml"


class _Tool(msgspec.Struct, frozen=True):
    channelsim: dict[str, dict[str, Any]] = {}


class _Project(msgspec.Struct, frozen=True):
    tool: _Tool = _Tool()


@dataclass(frozen=True, slots=True)
class _Table:
    """The table of a command in a file, with its keys in the file."""

    file: TomlFile[Any]
    keys: tuple[str, ...]
    values: Mapping[str, Any]


def set_defaults(command: Any, context: Any) -> None:
    """Set the options that were not given to what the files say. Raises `UsageError`."""
    arguments = [p for p in command.params if isinstance(p, TyperArgument) and p.name in TARGETS]
    if not arguments or context.resilient_parsing:
        return
    options = dict(_options(command))
    # The last one wins, so the target's file comes after the project's.
    for table in _tables(command.name, str(context.params[arguments[0].name])):
        for key, value in table.values.items():
            where = (
                f"{table.file.where(*table.keys, key)}: [{'.'.join(table.keys)}] {printable(key)}"
            )
            if key not in options:
                near = nearest_or_all(key, options)
                raise UsageError(f"{where}: `channelsim {command.name}` has no such option{near}")
            option = options[key]
            if context.get_parameter_source(option.name).name == "DEFAULT":
                context.params[option.name] = _read(option, context, value, where, table.file.path)


def _options(command: Any) -> Iterator[tuple[str, Any]]:
    """The options of a command that a file may set, by name."""
    for parameter in command.params:
        if not isinstance(parameter, TyperArgument):
            name = max(parameter.opts, key=len).removeprefix("--")
            if name not in NEVER:
                yield name, parameter


def _read(option: Any, context: Any, value: Any, where: str, file: Path) -> Any:
    """The value of an option; a path is relative to the folder of the file."""
    if option.is_flag != isinstance(value, bool) or isinstance(value, (list, dict)):
        raise UsageError(f"{where}: {'true or false' if option.is_flag else 'a text or a number'}")
    try:
        read = option.process_value(context, value if option.is_flag else str(value))
    except typer.BadParameter as error:
        raise UsageError(f"{where}: {error.message}") from None
    return file.resolve().parent / read if isinstance(read, Path) else read


def _tables(command: str, target: str) -> Iterator[_Table]:
    """The tables of a command, the most important last."""
    project = next(
        (p for p in (Path.cwd(), *Path.cwd().parents) if (p / PYPROJECT).is_file()), None
    )
    if project is not None and (project / PYPROJECT).read_bytes().strip():
        file = toml_files.read(project / PYPROJECT, _Project, Kind.TARGET)
        values = file.value.tool.channelsim.get(command)
        if values is not None:
            yield _Table(file, ("tool", "channelsim", command), values)
    path = Path(target)
    if path.suffix == ".toml" and path.is_file():
        written = toml_files.read(path, TargetFile, Kind.TARGET)
        values = getattr(written.value, command, None)
        if isinstance(values, dict):  # `[play]` says something else
            yield _Table(written, (command,), values)
