"""Read TOML files into types, and report errors with line and column."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.games.decoding import ANY_KEY, Key, keys_of, reason, unknown_key
from channelsim.games.names import printable

T = TypeVar("T")

_AT = re.compile(r" \(at (?:(line \d+, column \d+)|(end of document))\)$")
_TABLE_TWICE = re.compile(r"Cannot declare \((.*)\) twice")
_BYTE_ORDER_MARK = "\ufeff"
_MOST_TRIES = 200


@dataclass(frozen=True, slots=True)
class TomlFile(Generic[T]):
    """The value of a file, and the text to locate its keys in."""

    path: Path
    text: str
    value: T

    def where(self, *keys: Key) -> str:
        """The file, with line and column of this key if it has one."""
        return _where(self.path, self.text, keys)


def read(
    path: Path,
    kind: type[T],
    file_kind: Kind,
    words: Callable[[tuple[Key, ...]], str] | None = None,
) -> TomlFile[T]:
    """The `kind` in a file. Raises `UsageError`, naming the file and the place in it.

    `words` names the place of a key in messages; by default, its table and name.
    """
    data = input_files.read(path, input_files.TOML)
    if not data.strip():
        raise UsageError(f"{path}: is empty, so not {file_kind.title}")
    try:
        text = input_files.decoded(path, data)
        document = _parsed(path, text)
    except UsageError:
        check_kind(path, data, file_kind)
        raise
    try:
        return TomlFile(path, text, msgspec.convert(document, kind, strict=True))
    except msgspec.ValidationError as error:
        check_kind(path, data, file_kind)
        keys = _named(document, kind, keys_of(str(error)))
        unknown = unknown_key(str(error))
        place = _where(path, text, keys if unknown is None else (*keys, unknown))
        place_in_file = (words or _words)(keys)
        place_in_file = f"{printable(place_in_file)}: " if place_in_file else ""
        raise UsageError(f"{place}: {place_in_file}{reason(str(error), kind)}") from None
    except RecursionError:
        raise UsageError(f"{path}: nested too deep") from None


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if text.startswith(_BYTE_ORDER_MARK):
        raise UsageError(
            f"{path}: line 1, column 1: begins with a byte order mark, which TOML does not have;"
            " save it as UTF-8 without one"
        )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{path}: not TOML: nested too deep") from None
    except ValueError as error:
        match = _AT.search(str(error))
        place = f"{match[1] or input_files.place(text, None)}: " if match else ""
        problem = printable(_twice(text, str(error)) or _AT.sub("", str(error)))
        raise UsageError(f"{path}: {place}not TOML: {problem}") from None


def _twice(text: str, error: str) -> str:
    """The problem of a key or a table that is written twice, by its name; "" for another one.

    >>> _twice("a = 1\\na = 2", "Cannot overwrite a value (at line 2, column 6)")
    'the key a is written twice'
    """
    if (table := _TABLE_TWICE.match(error)) is not None:
        names = ".".join(name.strip(" '\"") for name in table[1].split(",") if name.strip())
        return f"the table [{names}] is written twice"
    match = _AT.search(error)
    if not error.startswith("Cannot overwrite a value") or match is None:
        return ""
    number = int(match[1].split()[1].rstrip(",")) if match[1] else text.count("\n") + 1
    key = text.split("\n")[number - 1].partition("=")[0].strip()
    return f"the key {key} is written twice" if key else ""


def _words(keys: tuple[Key, ...]) -> str:
    """The place of a key, as TOML writes it.

    >>> _words(("programs", "end"))
    '[programs] end'
    """
    names = [str(key) for key in keys]
    return f"[{'.'.join(names[:-1])}] {names[-1]}" if len(names) > 1 else "".join(names)


def _named(document: Any, kind: type, keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """The keys of an error's place, with those filled in that the library leaves out.

    Of each table in question all keys but one are left out: the wrong one is still wrong alone.
    """
    named: list[Key] = []
    here = document
    for key in keys:
        if key == ANY_KEY and isinstance(here, dict):
            table = dict(here)
            for name, value in table.items():
                here.clear()
                here[name] = value
                try:
                    msgspec.convert(document, kind, strict=True)
                except msgspec.ValidationError as error:
                    if keys_of(str(error))[: len(keys)] == keys:
                        key = name
                        break
        named.append(key)
        try:
            here = here[key]
        except (LookupError, TypeError):
            break
    return tuple(named)


def _where(path: Path, text: str, keys: tuple[Key, ...]) -> str:
    """The line of the last of these keys: the first line with which the text contains it."""
    name = next((key for key in reversed(keys) if isinstance(key, str)), None)
    if name is None:
        return str(path)
    lines = [line + "\n" for line in text.split("\n")]
    last = None
    tries = 0
    for number, line in enumerate(lines):
        if name not in line or (tries := tries + 1) > _MOST_TRIES:
            continue
        try:
            before = tomllib.loads("".join(lines[:number]))
        except (ValueError, RecursionError):
            continue  # inside a value
        if _holds(before, keys):
            break
        last = number
    if last is None:
        return str(path)
    return f"{path}: line {last + 1}, column {lines[last].index(name) + 1}"


def _holds(document: Any, keys: tuple[Key, ...]) -> bool:
    here = document
    for key in keys:
        try:
            here = here[key]
        except (LookupError, TypeError):
            return False
    return True
