"""CLVM's operators on plain values, each with how many operands it takes.

What is common is done here; the rest (BLS, secp, keccak, `coinid`, `softfork`) is asked of the
interpreter itself, one call each, so that there is one opinion on it. Where CLVM raises, these
raise :class:`~clsp.integers.OperatorError`.
"""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from clsp import integers
from clsp.integers import OperatorError, atom_to_int, int_to_atom
from clsp.values import NIL, Value, serialize

ONE = b"\x01"
MANY = 1 << 62
"""As many operands as one likes."""

LONGEST = 1 << 20
"""A longer atom is not made: CLVM would charge more for it than any program here may cost."""


class TooLong(Exception):
    """An operator would make an atom longer than :data:`LONGEST` bytes."""


class Operator(NamedTuple):
    """An operator: its name in Chialisp, what it does, and its least and most operands."""

    name: str
    call: Callable[..., Value]
    least: int
    most: int


def atom(value: Value, name: str) -> bytes:
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
    written = atom(value, name)
    if len(written) > 4:
        raise OperatorError(f"{name} by a number of {len(written)} bytes, at most 4")
    return atom_to_int(written)


def _made(length: int) -> None:
    if length > LONGEST:
        raise TooLong(f"an atom of {length} bytes, at most {LONGEST} here")


def _answer(truth: bool) -> bytes:
    return ONE if truth else NIL


# --- pairs ------------------------------------------------------------------------------------


def first(pair: Value) -> Value:
    """``(f pair)``."""
    if type(pair) is tuple:
        return pair[0]
    raise OperatorError("f of an atom")


def rest(pair: Value) -> Value:
    """``(r pair)``."""
    if type(pair) is tuple:
        return pair[1]
    raise OperatorError("r of an atom")


def cons(left: Value, right: Value) -> Value:
    """``(c left right)``."""
    return (left, right)


def listp(value: Value) -> bytes:
    """``(l value)``: is it a pair?"""
    return ONE if type(value) is tuple else NIL


def choose(test: Value, one: Value, other: Value) -> Value:
    """``(i test one other)``; every operand has been evaluated."""
    return other if test == NIL else one


def raise_(*values: Value) -> Value:
    """``(x …)``."""
    raise OperatorError("(x)")


# --- atoms ------------------------------------------------------------------------------------


def equal(a: Value, b: Value) -> bytes:
    """``(= a b)`` of bytes."""
    return ONE if atom(a, "=") == atom(b, "=") else NIL


def greater_bytes(a: Value, b: Value) -> bytes:
    """``(>s a b)`` of bytes."""
    return ONE if atom(a, ">s") > atom(b, ">s") else NIL


def hashed(*values: Value) -> bytes:
    """``(sha256 …)`` of what the atoms hold together."""
    return sha256(b"".join([atom(value, "sha256") for value in values])).digest()


def substring(a: Value, start: Value, end: Value | None = None) -> bytes:
    """``(substr a start end)``; without an end, to the atom's."""
    text = atom(a, "substr")
    stop = None if end is None else _short(end, "substr")
    return integers.substr(text, _short(start, "substr"), stop)


def length_of(a: Value) -> bytes:
    """``(strlen a)``."""
    return int_to_atom(len(atom(a, "strlen")))


def concat(*values: Value) -> bytes:
    """``(concat …)``."""
    made = [atom(value, "concat") for value in values]
    _made(sum(map(len, made)))
    return b"".join(made)


# --- numbers ----------------------------------------------------------------------------------


def add(*values: Value) -> bytes:
    """``(+ …)``."""
    return int_to_atom(sum(map(_number, values)))


def subtract(*values: Value) -> bytes:
    """``(- a …)``: the first less the others."""
    numbers = list(map(_number, values))
    return int_to_atom(2 * numbers[0] - sum(numbers)) if numbers else NIL


def multiply(*values: Value) -> bytes:
    """``(* …)``."""
    numbers = list(map(_number, values))
    product = 1
    for number in numbers:
        _made((product.bit_length() + number.bit_length()) >> 3)
        product *= number
    return int_to_atom(product)


def divide(a: Value, b: Value) -> bytes:
    """``(/ a b)``, floored."""
    return integers.divide(atom(a, "/"), atom(b, "/"))


def modulo(a: Value, b: Value) -> bytes:
    """``(% a b)``."""
    return integers.modulo(atom(a, "%"), atom(b, "%"))


def divided(a: Value, b: Value) -> Value:
    """``(divmod a b)``: a pair."""
    return integers.divmod_(atom(a, "divmod"), atom(b, "divmod"))


def greater(a: Value, b: Value) -> bytes:
    """``(> a b)`` of signed numbers."""
    return ONE if _number(a) > _number(b) else NIL


def ash(a: Value, count: Value) -> bytes:
    """``(ash a count)``."""
    return integers.ash(atom(a, "ash"), _short(count, "ash"))


def lsh(a: Value, count: Value) -> bytes:
    """``(lsh a count)``."""
    return integers.lsh(atom(a, "lsh"), _short(count, "lsh"))


def logand(*values: Value) -> bytes:
    """``(logand …)``; of nothing, -1."""
    result = -1
    for value in values:
        result &= _number(value)
    return int_to_atom(result)


def logior(*values: Value) -> bytes:
    """``(logior …)``."""
    result = 0
    for value in values:
        result |= _number(value)
    return int_to_atom(result)


def logxor(*values: Value) -> bytes:
    """``(logxor …)``."""
    result = 0
    for value in values:
        result ^= _number(value)
    return int_to_atom(result)


def lognot(a: Value) -> bytes:
    """``(lognot a)``."""
    return int_to_atom(~_number(a))


# --- truth ------------------------------------------------------------------------------------


def not_(value: Value) -> bytes:
    """``(not value)``: only ``()`` is false."""
    return _answer(value == NIL)


def any_(*values: Value) -> bytes:
    """``(any …)``."""
    return _answer(any(value != NIL for value in values))


def all_(*values: Value) -> bytes:
    """``(all …)``."""
    return _answer(all(value != NIL for value in values))


# --- the rest ---------------------------------------------------------------------------------


def by_interpreter(code: bytes, *values: Value) -> Value:
    """Any operator on quoted operands, by the interpreter; what it does not know, it refuses."""
    from clsp.run import ProgramRaised, ProgramSlash, ProgramValid, Raised, run_serialized

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
    IF: Operator("i", choose, 3, 3),
    CONS: Operator("c", cons, 2, 2),
    FIRST: Operator("f", first, 1, 1),
    REST: Operator("r", rest, 1, 1),
    b"\x07": Operator("l", listp, 1, 1),
    RAISE: Operator("x", raise_, 0, MANY),
    b"\x09": Operator("=", equal, 2, 2),
    b"\x0a": Operator(">s", greater_bytes, 2, 2),
    b"\x0b": Operator("sha256", hashed, 0, MANY),
    b"\x0c": Operator("substr", substring, 2, 3),
    b"\x0d": Operator("strlen", length_of, 1, 1),
    b"\x0e": Operator("concat", concat, 0, MANY),
    b"\x10": Operator("+", add, 0, MANY),
    b"\x11": Operator("-", subtract, 0, MANY),
    b"\x12": Operator("*", multiply, 0, MANY),
    b"\x13": Operator("/", divide, 2, 2),
    b"\x14": Operator("divmod", divided, 2, 2),
    b"\x15": Operator(">", greater, 2, 2),
    b"\x16": Operator("ash", ash, 2, 2),
    b"\x17": Operator("lsh", lsh, 2, 2),
    b"\x18": Operator("logand", logand, 0, MANY),
    b"\x19": Operator("logior", logior, 0, MANY),
    b"\x1a": Operator("logxor", logxor, 0, MANY),
    b"\x1b": Operator("lognot", lognot, 1, 1),
    b"\x20": Operator("not", not_, 1, 1),
    b"\x21": Operator("any", any_, 0, MANY),
    b"\x22": Operator("all", all_, 0, MANY),
    b"\x3d": Operator("%", modulo, 2, 2),
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
    """The operator of this atom; of one that there is none of, one that raises.

    >>> operator(b"\\x10").call(b"\\x02", b"\\x03")
    b'\\x05'
    """
    known = COMMON.get(code)
    if known is not None:
        return known
    name = NAMES.get(code, f"0x{code.hex()}")
    return Operator(name, partial(by_interpreter, code), 0, MANY)
