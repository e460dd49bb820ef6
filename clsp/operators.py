"""CLVM's operators on plain values, each with its least and most operands.

The common ones are implemented here; the rest (BLS, secp, keccak, `coinid`, `softfork`) call the
interpreter itself, so that there is only one implementation of them. Where CLVM raises, these
raise `OperatorError`.
"""

from collections.abc import Callable
from functools import partial, reduce
from hashlib import sha256
from operator import and_, or_, xor
from typing import NamedTuple

from channelsim.clsp.values import NIL, Value, atom_to_int, int_to_atom, serialize

ONE = b"\x01"
MANY = 1 << 62
"""Any number of operands."""

LONGEST = 1 << 20
"""The longest atom that is made: CLVM would charge more for it than any program here may cost."""


MAX_SHIFT = 65535
"""The largest count, either way, that CLVM shifts by."""


class OperatorError(ValueError):
    """CLVM would raise here: a division by zero, a substring past the end, a shift too far."""


class TooLong(Exception):
    """An operator would make an atom longer than `LONGEST` bytes."""


class Operator(NamedTuple):
    """An operator: its name in Chialisp, what it does, and its least and most operands."""

    name: str
    call: Callable[..., Value]
    least: int = 0
    most: int = MANY


def _atom(value: Value, name: str) -> bytes:
    """The value, which must be an atom."""
    if type(value) is not bytes:
        raise OperatorError(f"{name} of a pair")
    return value


def _number(value: Value) -> int:
    if type(value) is not bytes:
        raise OperatorError("a pair where a number belongs")
    return int.from_bytes(value, "big", signed=True)


def _short(value: Value, name: str) -> int:
    """A position or a count: a number of at most four bytes."""
    written = _atom(value, name)
    if len(written) > 4:
        raise OperatorError(f"{name} by a number of {len(written)} bytes, at most 4")
    return atom_to_int(written)


def _check_length(length: int) -> None:
    if length > LONGEST:
        raise TooLong(f"an atom of {length} bytes, at most {LONGEST} here")


def _truth(value: bool) -> bytes:
    return ONE if value else NIL


def _first(pair: Value) -> Value:
    if type(pair) is tuple:
        return pair[0]
    raise OperatorError("f of an atom")


def _rest(pair: Value) -> Value:
    if type(pair) is tuple:
        return pair[1]
    raise OperatorError("r of an atom")


def _raise(*values: Value) -> Value:
    raise OperatorError("(x)")


def _sha256(*values: Value) -> bytes:
    return sha256(b"".join([_atom(value, "sha256") for value in values])).digest()


def _substr(a: Value, start: Value, end: Value | None = None) -> bytes:
    """Unlike a Python slice it raises past the end."""
    text = _atom(a, "substr")
    stop = len(text) if end is None else _short(end, "substr")
    first = _short(start, "substr")
    if not 0 <= first <= stop <= len(text):
        raise OperatorError(f"substr {first} to {stop} of {len(text)} bytes")
    return text[first:stop]


def _concat(*values: Value) -> bytes:
    atoms = [_atom(value, "concat") for value in values]
    _check_length(sum(map(len, atoms)))
    return b"".join(atoms)


def _subtract(*values: Value) -> bytes:
    """The first number minus the others; 0 without operands."""
    numbers = list(map(_number, values))
    return int_to_atom(2 * numbers[0] - sum(numbers)) if numbers else NIL


def _multiply(*values: Value) -> bytes:
    product = 1
    for number in list(map(_number, values)):
        _check_length((product.bit_length() + number.bit_length()) >> 3)
        product *= number
    return int_to_atom(product)


def _divmod(name: str, a: Value, b: Value) -> tuple[bytes, bytes]:
    """The quotient is floored, and the remainder has the sign of the divisor."""
    dividend, divisor = atom_to_int(_atom(a, name)), atom_to_int(_atom(b, name))
    if not divisor:
        raise OperatorError("divmod by zero")
    quotient, remainder = divmod(dividend, divisor)
    return int_to_atom(quotient), int_to_atom(remainder)


def _shift(name: str, signed: bool, a: Value, count: Value) -> bytes:
    """A negative count is right, and floors; `lsh` shifts the unsigned value of the bytes."""
    number, by = int.from_bytes(_atom(a, name), "big", signed=signed), _short(count, name)
    if not -MAX_SHIFT <= by <= MAX_SHIFT:
        raise OperatorError(f"shift by {by}, at most {MAX_SHIFT} either way")
    return int_to_atom(number << by if by >= 0 else number >> -by)


def _bitwise(combine: Callable[[int, int], int], start: int, *values: Value) -> bytes:
    return int_to_atom(reduce(combine, map(_number, values), start))


def _by_interpreter(code: bytes, *values: Value) -> Value:
    """Run any operator on quoted operands in the interpreter, which refuses unknown ones."""
    from channelsim.clsp.run import (
        ProgramRaised,
        ProgramSlash,
        ProgramValid,
        Raised,
        run_serialized,
    )

    program = b"\xff" + serialize(code)
    program += b"".join(b"\xff\xff\x01" + serialize(value) for value in values) + b"\x80"
    match run_serialized(program, b"\x80"):
        case ProgramValid() as valid:
            return valid.value
        case ProgramSlash():
            return NIL
        case Raised(error):
            raise OperatorError(error)
        case _:
            raise ProgramRaised("cost exceeded")


QUOTE, APPLY, IF, CONS, FIRST, REST = b"\x01", b"\x02", b"\x03", b"\x04", b"\x05", b"\x06"
RAISE = b"\x08"
"""The atoms of the operators that an interpreter or an analysis treats in a special way."""

COMMON: dict[bytes, Operator] = {
    # An `i` as a function: every operand has been evaluated.
    IF: Operator("i", lambda test, then, otherwise: otherwise if test == NIL else then, 3, 3),
    CONS: Operator("c", lambda left, right: (left, right), 2, 2),
    FIRST: Operator("f", _first, 1, 1),
    REST: Operator("r", _rest, 1, 1),
    b"\x07": Operator("l", lambda value: _truth(type(value) is tuple), 1, 1),
    RAISE: Operator("x", _raise),
    b"\x09": Operator("=", lambda a, b: _truth(_atom(a, "=") == _atom(b, "=")), 2, 2),
    b"\x0a": Operator(">s", lambda a, b: _truth(_atom(a, ">s") > _atom(b, ">s")), 2, 2),
    b"\x0b": Operator("sha256", _sha256),
    b"\x0c": Operator("substr", _substr, 2, 3),
    b"\x0d": Operator("strlen", lambda a: int_to_atom(len(_atom(a, "strlen"))), 1, 1),
    b"\x0e": Operator("concat", _concat),
    b"\x10": Operator("+", lambda *values: int_to_atom(sum(map(_number, values)))),
    b"\x11": Operator("-", _subtract),
    b"\x12": Operator("*", _multiply),
    b"\x13": Operator("/", lambda a, b: _divmod("/", a, b)[0], 2, 2),
    b"\x14": Operator("divmod", partial(_divmod, "divmod"), 2, 2),
    b"\x15": Operator(">", lambda a, b: _truth(_number(a) > _number(b)), 2, 2),
    b"\x16": Operator("ash", partial(_shift, "ash", True), 2, 2),
    b"\x17": Operator("lsh", partial(_shift, "lsh", False), 2, 2),
    b"\x18": Operator("logand", partial(_bitwise, and_, -1)),
    b"\x19": Operator("logior", partial(_bitwise, or_, 0)),
    b"\x1a": Operator("logxor", partial(_bitwise, xor, 0)),
    b"\x1b": Operator("lognot", lambda a: int_to_atom(~_number(a)), 1, 1),
    b"\x20": Operator("not", lambda value: _truth(value == NIL), 1, 1),
    b"\x21": Operator("any", lambda *values: _truth(any(v != NIL for v in values))),
    b"\x22": Operator("all", lambda *values: _truth(all(v != NIL for v in values))),
    b"\x3d": Operator("%", lambda a, b: _divmod("%", a, b)[1], 2, 2),
}
"""The operators that are done here, by their atom."""

_NAMED = {
    QUOTE: "q",
    APPLY: "a",
    b"\x1d": "point_add",
    b"\x1e": "pubkey_for_exp",
    b"\x24": "softfork",
    b"\x30": "coinid",
    b"\x31": "g1_subtract",
    b"\x32": "g1_multiply",
    b"\x33": "g1_negate",
    b"\x34": "g2_add",
    b"\x35": "g2_subtract",
    b"\x36": "g2_multiply",
    b"\x37": "g2_negate",
    b"\x38": "g1_map",
    b"\x39": "g2_map",
    b"\x3a": "bls_pairing_identity",
    b"\x3b": "bls_verify",
    b"\x3c": "modpow",
    b"\x3e": "keccak256",
    b"\x13\xd6\x1f\x00": "secp256k1_verify",
    b"\x1c\x3a\x8f\x00": "secp256r1_verify",
}

NAMES: dict[bytes, str] = _NAMED | {code: operator.name for code, operator in COMMON.items()}
"""The names of all operators, by their atom."""

CODES: dict[str, bytes] = {name: code for code, name in NAMES.items()}
"""The atoms of all operators, by name."""


def operator(code: bytes) -> Operator:
    """Look up the operator of this atom; an unknown atom gives one that raises.

    >>> operator(b"\\x10").call(b"\\x02", b"\\x03")
    b'\\x05'
    """
    known = COMMON.get(code)
    if known is not None:
        return known
    name = NAMES.get(code, f"0x{code.hex()}")
    return Operator(name, partial(_by_interpreter, code))
