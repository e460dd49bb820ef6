"""CLVM's integers and atom operators, byte for byte as CLVM has them.

An atom is a byte string. As a number it is signed and big-endian, of any length; operators
answer in the fewest bytes (0 is the empty atom, 128 is `0x0080`). Differences from Python
decide games, so each operator is compared with CLVM itself over millions of pairs.

Numbers go in and come out as atoms; tests answer `bool`; lengths, positions and shift counts
are `int`. Where CLVM raises, these raise `OperatorError`.
"""

MAX_SHIFT = 65535
"""The largest count, either way, that CLVM shifts by."""


class OperatorError(ValueError):
    """CLVM would raise here: a division by zero, a substring past the end, a shift too far."""


def int_to_atom(number: int) -> bytes:
    """Write a number in the fewest bytes.

    >>> [int_to_atom(n).hex() for n in (0, 1, 127, 128, -1, -128, -129)]
    ['', '01', '7f', '0080', 'ff', '80', 'ff7f']
    """
    if not number:
        return b""
    magnitude = number if number > 0 else ~number
    return number.to_bytes((magnitude.bit_length() >> 3) + 1, "big", signed=True)


def atom_to_int(atom: bytes) -> int:
    """Read an atom of any length as a signed number.

    >>> [atom_to_int(bytes.fromhex(h)) for h in ("", "00", "0005", "ff", "0080")]
    [0, 0, 5, -1, 128]
    """
    return int.from_bytes(atom, "big", signed=True)


def is_minimal(atom: bytes) -> bool:
    """True if this number is written in the fewest bytes. In Chialisp: `(= x (+ x 0))`.

    >>> [is_minimal(bytes.fromhex(h)) for h in ("", "00", "05", "0005", "0080", "ffff")]
    [True, False, True, False, True, False]
    """
    if not atom:
        return True
    first = atom[0]
    if len(atom) == 1:
        return first != 0
    # A leading 0x00 or 0xff is needed only when the next byte's top bit says otherwise.
    if first == 0:
        return atom[1] >= 0x80
    return first != 0xFF or atom[1] < 0x80


def divmod_(a: bytes, b: bytes) -> tuple[bytes, bytes]:
    """`(divmod a b)`, floored: the remainder has the sign of the divisor.

    >>> [part.hex() for part in divmod_(b"\\xff", b"\\x0d")]
    ['ff', '0c']
    """
    divisor = atom_to_int(b)
    if not divisor:
        raise OperatorError("divmod by zero")
    quotient, remainder = divmod(atom_to_int(a), divisor)
    return int_to_atom(quotient), int_to_atom(remainder)


def logxor(a: bytes, b: bytes) -> bytes:
    """`(logxor a b)` of the signed numbers: the shorter atom is sign-extended.

    >>> logxor(b"\\x80", b"\\x00\\x01").hex(), logxor(b"same", b"same")
    ('81', b'')
    """
    return int_to_atom(atom_to_int(a) ^ atom_to_int(b))


def lsh(a: bytes, count: int) -> bytes:
    """`(lsh a count)`: shift the **unsigned** value of the bytes; a negative count is right.

    >>> lsh(b"\\xfb", -4).hex(), ash(b"\\xfb", -4).hex()
    ('0f', 'ff')
    """
    return _shift(int.from_bytes(a, "big"), count)


def ash(a: bytes, count: int) -> bytes:
    """`(ash a count)`: shift the signed number; a negative count is right, and floors."""
    return _shift(atom_to_int(a), count)


def _shift(number: int, count: int) -> bytes:
    if not -MAX_SHIFT <= count <= MAX_SHIFT:
        raise OperatorError(f"shift by {count}, at most {MAX_SHIFT} either way")
    return int_to_atom(number << count if count >= 0 else number >> -count)


def substr(a: bytes, start: int, end: int | None = None) -> bytes:
    """`(substr a start end)`; unlike a Python slice it raises past the end.

    >>> substr(b"space", 1, 3)
    b'pa'
    >>> substr(b"space", 4, 6)
    Traceback (most recent call last):
    channelsim.clsp.integers.OperatorError: substr 4 to 6 of 5 bytes
    """
    stop = len(a) if end is None else end
    if not 0 <= start <= stop <= len(a):
        raise OperatorError(f"substr {start} to {stop} of {len(a)} bytes")
    return a[start:stop]
