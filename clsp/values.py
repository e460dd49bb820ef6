"""CLVM values as plain Python: an atom is `bytes`, a pair is a 2-tuple.

Nothing here recurses, so a value may be as deep as memory allows. (Python's own `==`,
`hash` and `repr` of tuples do recurse: compare deep values by `tree_hash`.)

As a number an atom is signed and big-endian, of any length; operators answer in the fewest bytes
(0 is the empty atom, 128 is `0x0080`). Differences from Python decide games, so each operator is
compared with CLVM itself over millions of pairs.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import TypeAlias

from chia_rs import tree_hash as native_tree_hash

Value: TypeAlias = bytes | tuple["Value", "Value"]
"""An atom or a pair of values."""

NIL = b""
"""The empty atom: the empty list, 0, and false."""

_PAIR = 0xFF
_BACK_REFERENCE = 0xFE
# First bytes 0x80, 0xc0, 0xe0, ... announce 1, 2, 3, ... bytes of length, and hold its top bits:
# (lowest first byte, further bytes, shortest length that needs this form).
_LENGTH_FORMS = (
    (0xF8, 4, 0x8000000),
    (0xF0, 3, 0x100000),
    (0xE0, 2, 0x2000),
    (0xC0, 1, 0x40),
    (0x80, 0, 0),
)
_MAX_ATOM = 0x400000000

_SHORT = 0x40
_LONGER = 0x80 | _SHORT
_SHORT_LENGTHS = tuple(bytes((0x80 | length,)) for length in range(_SHORT))
"""The lengths of atoms of fewer than `_SHORT` bytes."""

MAX_BYTES = 1 << 21
"""The longest serialized value that is read: more than a block of the chain has room for."""


class NotAList(ValueError):
    """The value is no proper list: its last rest is not `()`."""


class BadValue(ValueError):
    """These bytes are not exactly one CLVM value in its one plain, canonical form."""


def is_value(data: object) -> bool:
    """True if this is bytes, or a pair of such values."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple) and len(value) == 2:
            waiting += value
        elif not isinstance(value, bytes):
            return False
    return True


# --- numbers ------------------------------------------------------------------------------------


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


# --- lists --------------------------------------------------------------------------------------


def to_list(items: Iterable[Value], end: Value = NIL) -> Value:
    """Build a list, which is proper if its end is `()`.

    >>> to_list([b"a", b"b"])
    (b'a', (b'b', b''))
    """
    value = end
    for item in reversed(list(items)):
        value = (item, value)
    return value


def list_of(*items: Value | int) -> Value:
    """Build the proper list of these items, with numbers in the fewest bytes.

    >>> list_of(51, b"hash", 0)
    (b'3', (b'hash', (b'', b'')))
    """
    value: Value = NIL
    for item in reversed(items):
        value = (int_to_atom(item) if isinstance(item, int) else item, value)
    return value


def from_list(value: Value) -> list[Value]:
    """The items of a proper list; raises `NotAList` for anything else.

    >>> from_list((b"a", (b"b", b"")))
    [b'a', b'b']
    """
    items = []
    while isinstance(value, tuple):
        item, value = value
        items.append(item)
    if value != NIL:
        raise NotAList(f"a list of {len(items)} ends in the atom 0x{value.hex()}, not in ()")
    return items


# --- bytes --------------------------------------------------------------------------------------


def serialize_atom(atom: bytes) -> bytes:
    """Serialize one atom: itself, or its length and itself.

    >>> [serialize_atom(a).hex() for a in (b"", b"\\x7f", b"\\x80", b"ab")]
    ['80', '7f', '8180', '826162']
    """
    length = len(atom)
    if length == 1 and atom < b"\x80":
        return atom
    if length < _SHORT:
        return _SHORT_LENGTHS[length] + atom
    if length >= _MAX_ATOM:
        raise ValueError(f"an atom of {length} bytes, at most {_MAX_ATOM - 1}")
    for first, more, shortest in _LENGTH_FORMS:
        if length >= shortest:
            return (first << 8 * more | length).to_bytes(more + 1, "big") + atom
    raise AssertionError("every length has a form")


def serialize(value: Value) -> bytes:
    """Serialize a value, without back-references.

    >>> serialize(to_list([b"ab", b"\\x05"])).hex()
    'ff826162ff0580'
    """
    parts: list[bytes] = []
    append = parts.append
    waiting: list[Value] = []
    while True:
        while isinstance(value, tuple):
            append(b"\xff")
            value, rest = value
            waiting.append(rest)
        length = len(value)
        # As in `serialize_atom`, which calls for each small atom would make slow.
        if length == 1 and value < b"\x80":
            append(value)
        elif length < _SHORT:
            append(_SHORT_LENGTHS[length])
            append(value)
        else:
            append(serialize_atom(value))
        if not waiting:
            return b"".join(parts)
        value = waiting.pop()


def deserialize(blob: bytes, part: tuple[bytes, Value] | None = None) -> Value:
    """Read one serialized value, from a peer or a file, of at most `MAX_BYTES` bytes.

    Strict: no back-references, every length in its shortest form, nothing missing and nothing
    left over; otherwise `BadValue`, with the offset. Every value has one serialization,
    so `serialize(deserialize(blob)) == blob`. `part` is a pair that was read before, as bytes
    and as a value: the first place with these bytes gets that very value.

    >>> deserialize(bytes.fromhex("ff826162ff0580"))
    (b'ab', (b'\\x05', b''))
    >>> deserialize(bytes.fromhex("ff8105"))
    Traceback (most recent call last):
    channelsim.clsp.values.BadValue: at byte 1: the byte 0x05 stands for itself, without a length
    """
    size = len(blob)
    if size > MAX_BYTES:
        raise BadValue(f"{size:,} bytes; at most {MAX_BYTES:,} are read")
    at = 0
    known = blob.find(part[0]) if part else -1
    # The pairs begun: None while the left side is read, then the left side.
    begun: list[Value | None] = []
    while True:
        if at >= size:
            raise BadValue(f"at byte {at}: the value ends too early")
        first = blob[at]
        value: Value
        if first == _PAIR:
            if part is None or at != known:
                begun.append(None)
                at += 1
                continue
            value = part[1]
            at += len(part[0])
        elif first < 0x80:
            value = blob[at : at + 1]
            at += 1
        elif 0x81 < first < _LONGER and at + first - 0x80 < size:
            # As in `_atom_bounds`, which calls for each small atom would make slow.
            end = at + first - 0x7F
            value = blob[at + 1 : end]
            at = end
        elif first == 0x80:
            value = NIL
            at += 1
        else:
            start, end = _atom_bounds(blob, at)
            value = blob[start:end]
            at = end
        while begun:
            left = begun.pop()
            if left is None:
                begun.append(value)
                break
            value = (left, value)
        else:
            if at != size:
                raise BadValue(f"at byte {at}: {size - at} bytes after the value's end")
            return value


def _atom_bounds(blob: bytes, at: int) -> tuple[int, int]:
    """The start and end of the bytes of the atom with a length at `at`."""
    first = blob[at]
    if first == _BACK_REFERENCE:
        raise BadValue(f"at byte {at}: back-references are not allowed")
    lowest, more, shortest = next(form for form in _LENGTH_FORMS if first >= form[0])
    start = at + 1 + more
    if first >= 0xFC:
        raise BadValue(f"at byte {at}: 0x{first:02x} starts no atom")
    if start > len(blob):
        raise BadValue(f"at byte {at}: the length of an atom ends too early")
    length = int.from_bytes(blob[at:start], "big") - (lowest << 8 * more)
    if length < shortest:
        raise BadValue(f"at byte {at}: a length of {length} is not in its shortest form")
    end = start + length
    if end > len(blob):
        raise BadValue(f"at byte {at}: an atom of {length} bytes ends too early")
    if length == 1 and blob[start] < 0x80:
        raise BadValue(
            f"at byte {at}: the byte 0x{blob[start]:02x} stands for itself, without a length"
        )
    return start, end


# --- tree hashes --------------------------------------------------------------------------------


def tree_hash_atom(atom: bytes) -> bytes:
    """The 32-byte tree hash of an atom: `sha256(1 || atom)`."""
    return sha256(b"\x01" + atom).digest()


def tree_hash_pair(left: bytes, right: bytes) -> bytes:
    """The 32-byte tree hash of a pair whose sides have these: `sha256(2 || left || right)`."""
    return sha256(b"\x02" + left + right).digest()


_NIL_HASH = tree_hash_atom(NIL)


def tree_hash_list(hashes_of_items: Iterable[bytes]) -> bytes:
    """The tree hash of the proper list whose items have these tree hashes.

    >>> tree_hash_list([tree_hash_atom(b"a")]) == tree_hash((b"a", b""))
    True
    """
    result = _NIL_HASH
    for item in reversed(list(hashes_of_items)):
        result = sha256(b"\x02" + item + result).digest()
    return result


def tree_hash(value: Value) -> bytes:
    """The 32-byte tree hash of a value, by which the chain identifies it.

    >>> tree_hash(b"").hex()[:16]
    '4bf5122f344554c5'
    """
    if isinstance(value, bytes):
        return sha256(b"\x01" + value).digest()
    # To write the value and hash its bytes in the library is faster than hashing each pair here.
    return bytes(native_tree_hash(serialize(value)))
