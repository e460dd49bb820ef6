"""Short text for atoms and values, with numbers in decimal."""

from __future__ import annotations

from collections.abc import Mapping

from channelsim.clsp.values import NIL, Value, atom_to_int, is_minimal

SHORT, LONG, HASH = 4, 12, 32
"""Atoms of at most this many bytes are shown as numbers, if they are written as such; in full; and
are taken for hashes."""

_NONE: Mapping[bytes, str] = {}


def atom_text(atom: bytes, known: Mapping[bytes, str] = _NONE) -> str:
    """An atom as a number or as hex shortened in the middle; with its length unless it is
    as long as a hash. `known` are atoms with a name.

    >>> [atom_text(a) for a in (b"", b"\\x05", b"\\x00\\x80", b"\\x00", bytes(16), bytes(32))]
    ['()', '5', '128', '0x00', '0x0000…0000 (16 bytes)', '0x0000…0000']
    """
    if not atom:
        return "()"
    if atom in known:
        return known[atom]
    if len(atom) <= SHORT and is_minimal(atom):
        return str(atom_to_int(atom))
    if len(atom) <= LONG:
        return f"0x{atom.hex()}"
    length = "" if len(atom) == HASH else f" ({len(atom)} bytes)"
    return f"0x{atom[:2].hex()}…{atom[-2:].hex()}{length}"


def value_text(value: Value, room: int = 40, known: Mapping[bytes, str] = _NONE) -> str:
    """A value in about this many characters; the rest is cut off.

    >>> value_text((b"\\x01", (b"\\x02", b""))), value_text((b"\\x01", b"\\x02"))
    ('(1 2)', '(1 . 2)')
    """
    if isinstance(value, bytes):
        return atom_text(value, known)
    parts: list[str] = []
    left = room
    while isinstance(value, tuple):
        if left <= 0:
            return f"({' '.join(parts)} …)"
        text = value_text(value[0], left - 2, known)
        parts.append(text)
        left -= len(text) + 1
        value = value[1]
    if value != NIL:
        parts.append(f". {atom_text(value, known)}")
    return f"({' '.join(parts)})"
