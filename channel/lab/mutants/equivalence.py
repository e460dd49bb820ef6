"""Proofs that a change makes no difference on any input.

Changes proven equivalent are not made, nor are mutants with the bytes of another one.
"""

from __future__ import annotations

from collections.abc import Collection

from channelsim.channel.lab.mutants.expressions import Expression, Module, operands_of, steps
from channelsim.clsp.operators import APPLY, CODES, IF, QUOTE
from channelsim.clsp.values import NIL, Value


class Equivalence:
    """Recognises changes of one program's expressions that no run can detect."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._unread = unread(module)
        self._calls: dict[str, list[Value]] = {start: [] for start in module.bodies}
        for place in module.expressions():
            match place.value:
                case (b"\x02", (function, (environment, b""))):
                    called = module.called(function, "code")
                    if called is not None:
                        self._calls[called].append(environment)

    def __call__(self, place: Expression, new: Value) -> bool:
        """True if the change makes no difference: where no run looks at the value, and neither
        the old nor the new expression can raise; or where one constant stands for another, and
        it is only asked whether the value is `()`."""
        old_constant, new_constant = _constant(place.value), _constant(new)
        if place.at in self._unread:
            return self._is_quiet(place.start, place.value) and self._is_quiet(place.start, new)
        if old_constant is not None and new_constant is not None and place.tested:
            return (old_constant == NIL) == (new_constant == NIL)
        return _adds_nothing(place.value, new) or _joined(place.value) == _joined(new) is not None

    def _is_quiet(self, start: str, value: Value) -> bool:
        """True if an expression of this function never raises: a constant, or a path to what
        every call of the function puts there."""
        if _constant(value) is not None:
            return True
        if not isinstance(value, bytes):
            return False
        way = steps(value)
        if not start:
            return self._module.has_functions and way in ("", "f", "r")
        return all(_has(environment, way) for environment in self._calls[start])


def _adds_nothing(old: Value, new: Value) -> bool:
    """True if one adds 0 and the other subtracts 0: both only normalise the number."""
    match old, new:
        case (b"\x10" | b"\x11", (one, (b"", b""))), (b"\x10" | b"\x11", (two, (b"", b""))):
            return one == two
    return False


def _joined(value: Value) -> bytes | None:
    """The bytes that `sha256` hashes here, if all operands are constants."""
    if not isinstance(value, tuple) or value[0] != CODES["sha256"]:
        return None
    parts = [_constant(operand) for operand in operands_of(value)]
    atoms = [part for part in parts if isinstance(part, bytes)]
    return b"".join(atoms) if len(atoms) == len(parts) else None


def _has(environment: Value, way: str) -> bool:
    """True if the value of this expression always has a part at `way`."""
    match environment:
        case (b"\x04", (left, (right, b""))) if way:
            return _has(left if way[0] == "f" else right, way[1:])
    return not way


def _constant(value: Value) -> Value | None:
    """The value of a constant expression; None for any other."""
    if value == NIL:
        return NIL
    return value[1] if isinstance(value, tuple) and value[0] == QUOTE else None


def unread(module: Module) -> set[str]:
    """The ways to operands that the called function never reads: most often the end of
    a list of arguments."""
    reads = Reads(module)
    ways = set()
    for place in module.expressions():
        match place.value:
            case (b"\x02", (function, (environment, b""))):
                called = module.called(function, "code")
                if called is not None:
                    ways |= _unread(environment, place.at + "rrf", "", reads.of[called])
    return ways


def _unread(expression: Value, at: str, way: str, reads: Collection[str]) -> set[str]:
    """The unread parts of an expression that makes the value at `way` of an environment."""
    ways: set[str] = set()
    if not any(read.startswith(way) or way.startswith(read) for read in reads):
        ways.add(at)
    match expression:
        case (b"\x04", (left, (right, b""))):
            ways |= _unread(left, at + "rf", way + "f", reads)
            ways |= _unread(right, at + "rrf", way + "r", reads)
    return ways


FAR = 16
"""Everything below a way of this many steps counts as read."""


class Reads:
    """The ways into its environment that each function may read, itself or through the functions
    that it calls; "" if it may read all of it.

    A value that is only passed on counts when the called function reads it. This is the least
    fixed point, found by adding until nothing is new.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self.of: dict[str, set[str]] = {start: set() for start in module.bodies}
        while True:
            reads = {
                start: _short(self._reads(module.bodies[start].body)) for start in module.bodies
            }
            if reads == self.of:
                return
            self.of = reads

    def _reads(self, code: Value) -> set[str]:
        if isinstance(code, bytes):
            return {steps(code)} if code else set()
        head, _ = code
        if head == QUOTE:
            return set()
        if isinstance(head, tuple):
            return {""}
        given = operands_of(code)
        if head == APPLY and len(given) == 2:
            if given[1] == b"\x01":
                return self._reads_of_run(given[0])
            called = self._module.called(given[0], "code")
            if called is not None:
                ways = [self._through(given[1], way) for way in self.of[called]]
                return {steps(given[0])}.union(*ways) if isinstance(given[0], bytes) else {""}
        return {way for operand in given for way in self._reads(operand)}

    def _through(self, value: Value, way: str) -> set[str]:
        """The ways read in an environment when `way` is read in the value of this expression."""
        match value:
            case bytes() if value:
                return {steps(value) + way}
            case (b"\x04", (left, (right, b""))) if way:
                return self._through(left if way[0] == "f" else right, way[1:])
        return self._reads(value)

    def _reads_of_run(self, value: Value) -> set[str]:
        """The same as `_reads` for `(a MADE 1)`, which runs code in the same environment."""
        match value:
            case (b"\x01", code):
                return self._reads(code)
            case (bytes(head), _) if head == IF and len(operands_of(value)) == 3:
                test, then, other = operands_of(value)
                return self._reads(test) | self._reads_of_run(then) | self._reads_of_run(other)
        return {""}  # code from elsewhere may look at anything


def _short(ways: Collection[str]) -> set[str]:
    """The ways cut off where they are long, without those that another one leads to."""
    cut = {way[:FAR] for way in ways}
    return {way for way in cut if not any(way[:end] in cut for end in range(len(way)))}
