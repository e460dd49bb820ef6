"""Values as a mutation sees them: the atoms of a tree, and the numbers worth trying near them."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.clsp.values import Value, atom_to_int

NUMBER = 9
"""The longest atom, in bytes, that may be an amount."""

SMALL = 8
"""A byte below this, or as far below zero, is taken for a small number."""


def atom_of(value: Value) -> bytes:
    """Narrow a value that must be an atom. Raises `InvariantError` for a pair."""
    if isinstance(value, tuple):
        raise InvariantError("a pair where an atom was made")
    return value


def longer(atom: bytes, count: int) -> bytes:
    """The same number in this many bytes more.

    >>> longer(b"\\x05", 2).hex(), longer(b"\\x80", 1).hex()
    ('000005', 'ff80')
    """
    return (b"\xff" if atom and atom[0] & 0x80 else b"\x00") * count + atom


def moved(part: bytes, step: int) -> bytes:
    r"""The number in these bytes and so much more, in as many bytes; in two's complement below 0.

    >>> moved(b"\x00\xff", 1), moved(b"\x05", -7)
    (b'\x01\x00', b'\xfe')
    """
    size = len(part)
    return ((int.from_bytes(part, "big") + step) % (1 << 8 * size)).to_bytes(size, "big")


def transferred(data: bytes, chance: FastChance) -> bytes:
    r"""The bytes with one of them smaller and another one greater by the same, as rules about sums
    have it; mostly bytes that look like small numbers, of either sign.

    >>> transferred(b"\x05", FastChance(b"")), sum(transferred(bytes([3, 3, 3]), FastChance(b"")))
    (b'\x05', 9)
    """
    changed = bytearray(data)
    small = [at for at, byte in enumerate(data) if byte < SMALL or byte >= 0x100 - SMALL]
    among = small if len(small) > 1 and chance.random() < 0.9 else range(len(data))
    if len(among) > 1:
        less, more = chance.shuffled(among)[:2]
        step = 1 if chance.random() < 0.7 else 1 + chance.below(max(data[less], 1))
        changed[less] = (changed[less] - step) % 256
        changed[more] = (changed[more] + step) % 256
    return bytes(changed)


def with_moved_bits(mask: bytes, free: int, chance: FastChance) -> bytes:
    r"""The mask with as many bits set, of which one to three are now among the `free` ones; these
    may be in more bytes in front.

    >>> with_moved_bits(b"\x10", 0x300, FastChance(b"")).hex()
    '0100'
    """
    number = int.from_bytes(mask, "big")
    for _ in range(1 + chance.below(3)):
        ones = [at for at in range(number.bit_length()) if number & ~free & 1 << at]
        zeros = [at for at in range(free.bit_length()) if free & ~number & 1 << at]
        if ones and zeros:
            number ^= 1 << chance.pick(ones) | 1 << chance.pick(zeros)
    return number.to_bytes(max(len(mask), -(-number.bit_length() // 8)), "big")


def leaves(value: Value) -> Iterator[bytes]:
    """The atoms of a value, from left to right.

    >>> list(leaves((b"a", (b"b", b""))))
    [b'a', b'b', b'']
    """
    while isinstance(value, tuple):
        yield from leaves(value[0])
        value = value[1]
    yield value


def with_leaf(value: Value, at: int, atom: bytes) -> Value:
    """The value with its atom number `at` replaced.

    >>> with_leaf((b"a", (b"b", b"")), 1, b"c")
    (b'a', (b'c', b''))
    """
    if not isinstance(value, tuple):
        return value if at else atom
    first, rest = value
    count = sum(1 for _ in leaves(first))
    if at < count:
        return with_leaf(first, at, atom), rest
    return first, with_leaf(rest, at - count, atom)


def numbers(state: Value, amount: int, *more: int) -> tuple[int, ...]:
    """The numbers at which the result of a comparison may change: the amount, its half, the numbers
    of the state, their sums and differences, and one more and one less than each.

    >>> {499, 500, 501, 400, 1000} <= set(numbers((b"\\x64", b""), 1000))
    True
    """
    half = amount // 2
    small = {atom_to_int(leaf) for leaf in leaves(state) if 0 < len(leaf) <= NUMBER}
    # Of a state of many cards, a few stand for all.
    few = sorted(small)[:6]
    near = {0, 1, amount, half, *more, *few}
    near |= {half - number for number in few} | {half + number for number in few}
    near |= {half - number - other for number in few for other in few}
    return tuple(sorted({number + step for number in near for step in (-1, 0, 1)}))
