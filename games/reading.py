"""Strict readers of the CLVM values that states consist of.

Every reader raises `BadState` with the name of the wrong field.
"""

from __future__ import annotations

from channelsim.clsp.integers import atom_to_int, is_minimal
from channelsim.clsp.values import Value
from channelsim.games.amounts import counted
from channelsim.games.errors import BadState


def read_list(value: Value, length: int, what: str) -> list[Value]:
    """The elements of a proper list of exactly `length`.

    >>> read_list((b"a", (b"b", b"")), 2, "pair of names")
    [b'a', b'b']
    """
    elements: list[Value] = []
    rest = value
    while isinstance(rest, tuple) and len(elements) < length:
        first, rest = rest
        elements.append(first)
    if rest != b"" or len(elements) != length:
        raise BadState(f"{what}: not a list of {length} elements")
    return elements


def read_int(value: Value, what: str, least: int, most: int) -> int:
    """An integer from `least` to `most`, in the fewest bytes.

    >>> read_int(bytes([0, 128]), "amount", 0, 1000)
    128
    >>> read_int(bytes([0, 1]), "amount", 0, 1000)
    Traceback (most recent call last):
    channelsim.games.errors.BadState: amount: not an integer in the fewest bytes
    """
    if not isinstance(value, bytes) or not is_minimal(value):
        raise BadState(f"{what}: not an integer in the fewest bytes")
    number = atom_to_int(value)
    if not least <= number <= most:
        raise BadState(f"{what}: not from {least} to {most}")
    return number


def read_bytes(value: Value, what: str, size: int) -> bytes:
    """An atom of exactly `size` bytes.

    >>> read_bytes(b"abc", "salt", 4)
    Traceback (most recent call last):
    channelsim.games.errors.BadState: salt: not an atom of 4 bytes
    """
    if not isinstance(value, bytes) or len(value) != size:
        raise BadState(f"{what}: not an atom of {counted(size, 'byte')}")
    return value
