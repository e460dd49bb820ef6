"""Lengths that a program uses: those it compares with a `strlen`, and those at which it cuts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from channelsim.channel.lab.sites.commitments import LONGEST, SHORTEST
from channelsim.clsp.integers import atom_to_int
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, from_list

_QUOTE, _SUBSTR, _STRLEN = b"\x01", b"\x0c", b"\x0d"
_COMPARING = (b"\x09", b"\x0a", b"\x15")


@lru_cache(maxsize=64)
def head_lengths(program: Program) -> tuple[int, ...]:
    """The lengths in bytes that the first part of a move may have, the one that opens something.

    >>> head_lengths(Program(bytes.fromhex("ff0cff02ff80ffff011480")))  # (substr 2 () (q . 20))
    (20,)
    """
    value = program.value
    found = {atom_to_int(one) for one in (*compared_lengths(value), *_cuts(value)) if len(one) == 1}
    return tuple(sorted(length for length in found if SHORTEST <= length <= LONGEST))


def compared_lengths(value: Value) -> Iterator[bytes]:
    """The constants that are compared with the length of something."""
    while isinstance(value, tuple):
        left, right = value
        match value:
            case (operator, (one, (other, b""))) if operator in _COMPARING:
                for length, constant in ((one, other), (other, one)):
                    match length, constant:
                        case (operator, (_, b"")), (quote, bytes(atom)) if (
                            operator == _STRLEN and quote == _QUOTE
                        ):
                            yield atom
        yield from compared_lengths(left)
        value = right


def _cuts(value: Value) -> Iterator[bytes]:
    """The constants that say where a `substr` begins or ends."""
    while isinstance(value, tuple):
        left, right = value
        if left == _SUBSTR:
            try:
                arguments = from_list(right)[1:]
            except ValueError:
                arguments = []
            for one in arguments:
                if isinstance(one, tuple) and one[0] == _QUOTE and isinstance(one[1], bytes):
                    yield one[1]
        yield from _cuts(left)
        value = right
