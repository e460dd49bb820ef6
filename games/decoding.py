"""Messages about malformed JSON or TOML data: the place, and the nearest right name of a key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import inspect

from channelsim.games.names import nearest_or_all, printable

_PLACE = re.compile(r" - at `(?:key` in `)?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_BYTE = re.compile(r" \(byte (\d+)\)$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(.*)`$")
_LONGEST = 300

Key = str | int
"""A step into data: a key, or an index from 0; `...` is a key that the library leaves open."""

ANY_KEY = "..."


def keys_of(error: str) -> tuple[Key, ...]:
    """The path of keys to the place of an error.

    >>> keys_of("Expected `str`, got `int` - at `$.hand[1].first`")
    ('hand', 1, 'first')
    """
    place = _PLACE.search(_bounded(error))
    steps = _STEP.findall(place[1]) if place else []
    return tuple(key or (int(at) if at != ANY_KEY else at) for key, at in steps)


def unknown_key(error: str) -> str | None:
    """The unknown key that an error is about; None if it is about something else."""
    unknown = _UNKNOWN.match(_PLACE.sub("", _bounded(error)))
    return unknown[1] if unknown else None


def reason(error: str, kind: Any) -> str:
    """The reason of an error in data of type `kind`, without its place.

    >>> class Move(msgspec.Struct):
    ...     amount: int
    >>> reason("Object contains unknown field `amuont`", Move)
    'unknown key `amuont`; did you mean `amount`?'
    >>> reason("Expected `str`, got `int` - at `$.hand[1].first`", Move)
    'Expected `str`, got `int`'
    """
    unknown = unknown_key(error)
    if unknown is not None:
        hint = nearest_or_all(unknown, _fields(kind, keys_of(error)))
        return f"unknown key `{printable(unknown)}`{hint}"
    text = _PLACE.sub("", _bounded(error))
    return printable(_MISSING.sub(r"the key `\1` is missing", text))


def line_error(error: Exception, number: int, line: str | bytes, kind: Any) -> str:
    """The reason and the place of an error in a line of JSON of type `kind`.

    >>> try:
    ...     msgspec.json.decode(b'{"a": 1,}')
    ... except msgspec.DecodeError as error:
    ...     line_error(error, 7, b'{"a": 1,}', dict)
    'line 7, column 9: JSON is malformed: trailing comma in object'
    """
    text = str(error)
    match error:
        case msgspec.ValidationError():
            return f"line {number}: {_key_error(text, kind)}"
        case UnicodeDecodeError():
            return f"line {number}: not UTF-8"
        case RecursionError():
            return f"line {number}: nested too deep"
        case msgspec.DecodeError():
            byte = _BYTE.search(text)
            raw = line.encode("utf-8", "replace") if isinstance(line, str) else line
            before = raw[: int(byte[1])] if byte else raw
            number += before.count(b"\n")
            column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
            return f"line {number}, column {column}: {printable(_BYTE.sub('', text))}"
        case _:
            return f"line {number}: {printable(text)}"


def document_error(error: Exception, data: bytes, kind: Any) -> str:
    """The reason and the place of an error in a JSON document of type `kind`.

    >>> try:
    ...     msgspec.json.decode(b'{"a":\\n 1,}')
    ... except msgspec.DecodeError as error:
    ...     document_error(error, b'{"a":\\n 1,}', dict)
    'line 2, column 4: JSON is malformed: trailing comma in object'
    """
    if isinstance(error, msgspec.ValidationError):
        return _key_error(str(error), kind)
    return line_error(error, 1, data, kind)


def _key_error(text: str, kind: Any) -> str:
    keys = ".".join(map(str, keys_of(text)))
    where = f"key `{printable(keys)}`: " if keys else ""
    return f"{where}{reason(text, kind)}"


def _bounded(error: str) -> str:
    """An error message without its middle if it is long: it may quote a key as long as its file."""
    size = 2 * _LONGEST
    return error if len(error) <= 2 * size else error[:size] + "…" + error[-size:]


def _fields(kind: Any, keys: Iterable[Key]) -> list[str]:
    """The keys that data of a type may have at a place."""
    here = [inspect.type_info(kind)]
    for key in keys:
        here = [inner for outer in here for inner in _inner(outer, key)]
    return [field.encode_name for struct in _flat(here) for field in struct.fields]


def _inner(info: inspect.Type, key: Key) -> list[inspect.Type]:
    match info:
        case inspect.UnionType(types=types):
            return [inner for kind in types for inner in _inner(kind, key)]
        case inspect.StructType(fields=fields):
            return [field.type for field in fields if field.encode_name == key]
        case inspect.DictType(value_type=value):
            return [value]
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [item]
        case _:
            return []


def _flat(infos: Iterable[inspect.Type]) -> list[inspect.StructType]:
    structs = []
    for info in infos:
        if isinstance(info, inspect.UnionType):
            structs += _flat(info.types)
        elif isinstance(info, inspect.StructType):
            structs.append(info)
    return structs
