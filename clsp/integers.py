"""CLVM's integers, byte for byte as CLVM has them.

An atom is a byte string. As a number it is signed and big-endian, of any length; operators
answer in the fewest bytes (0 is the empty atom, 128 is `0x0080`). Differences from Python
decide games, so each operator is compared with CLVM itself over millions of pairs.
"""


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


def logxor(a: bytes, b: bytes) -> bytes:
    """`(logxor a b)` of the signed numbers: the shorter atom is sign-extended.

    >>> logxor(b"\\x80", b"\\x00\\x01").hex(), logxor(b"same", b"same")
    ('81', b'')
    """
    return int_to_atom(atom_to_int(a) ^ atom_to_int(b))
