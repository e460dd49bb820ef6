"""Code as text: the operators by name, numbers in decimal, long atoms by their ends."""

from __future__ import annotations

from types import MappingProxyType

from clsp.integers import atom_to_int, is_minimal
from clsp.operators import NAMES, QUOTE
from clsp.values import Value

CONS, FIRST, REST = b"\x04", b"\x05", b"\x06"

CODES = MappingProxyType({name: code for code, name in NAMES.items()})
"""The operators by name."""

SHORT = 9
"""Atoms of at most so many bytes are shown as numbers, where that says the same bytes."""


def show(code: Value, most: int = 72) -> str:
    """An expression as text, cut after so many characters.

    >>> from clsp.values import deserialize
    >>> show(deserialize(bytes.fromhex("ff15ff02ffff011f80")))
    '(> 2 (q . 31))'
    """
    text = _code(code, most)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _code(value: Value, room: int) -> str:
    if isinstance(value, bytes):
        return _atom(value)
    head, rest = value
    if head == QUOTE:
        return f"(q . {_data(rest, room)})"
    parts = [NAMES.get(head, _atom(head)) if isinstance(head, bytes) else _code(head, room)]
    while isinstance(rest, tuple) and room > 0:
        parts.append(_code(rest[0], room))
        room -= len(parts[-1]) + 1
        rest = rest[1]
    if isinstance(rest, tuple):
        parts.append("…")
    elif rest:
        parts += [".", _atom(rest)]
    return f"({' '.join(parts)})"


def _data(value: Value, room: int) -> str:
    """Quoted data: code where it starts with an operator and has something behind it."""
    if isinstance(value, tuple) and value[0] not in NAMES:
        parts = []
        while isinstance(value, tuple) and room > 0:
            parts.append(_data(value[0], room))
            room -= len(parts[-1]) + 1
            value = value[1]
        if isinstance(value, tuple):
            parts.append("…")
        elif value:
            parts += [".", _atom(value)]
        return f"({' '.join(parts)})"
    return _code(value, room)


def _atom(atom: bytes) -> str:
    if not atom:
        return "()"
    if len(atom) <= SHORT and is_minimal(atom):
        return str(atom_to_int(atom))
    return f"0x{atom.hex()}" if len(atom) <= SHORT else f"0x{atom[:4].hex()}…{atom[-2:].hex()}"
