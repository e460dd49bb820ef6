"""Changes that make no difference, whatever the program is run on: proofs, not guesses.

Mutants that these recognise are not made at all, like those whose bytes are another's.
"""

from __future__ import annotations

from collections.abc import Collection

from channel.lab.mutants.code import Expression, Module, operands, steps
from channel.lab.mutants.show import APPLY, IF, QUOTE
from clsp.values import NIL, Value


def is_same(place: Expression, new: Value, nowhere: Collection[str]) -> bool:
    """Whether the change can be seen by nothing: one constant for another, where no run looks
    (`nowhere`, from `unread`), or where it is only asked whether a value is `()`."""
    old_constant, new_constant = _constant(place.value), _constant(new)
    if old_constant is None or new_constant is None:
        return False
    if place.at in nowhere:
        return True
    return place.tested and (old_constant == NIL) == (new_constant == NIL)


def _constant(value: Value) -> Value | None:
    """The value of an expression that is a constant; None of any other."""
    if value == NIL:
        return NIL
    return value[1] if isinstance(value, tuple) and value[0] == QUOTE else None


def unread(module: Module) -> set[str]:
    """The ways to the expressions that make parts of an environment which the function that is
    called with it never looks at: most often the end of a list of arguments."""
    reads = {start: reads_of(module.body(start)) for start in module.functions}
    found = set()
    for place in module.expressions():
        match place.value:
            case (b"\x02", (function, (environment, b""))):
                called = module.called(function, "code")
                if called is not None:
                    found |= _unread(environment, place.at + "rrf", "", reads[called])
    return found


def _unread(expression: Value, at: str, way: str, reads: Collection[str]) -> set[str]:
    """Of an expression that makes what stands at `way` of an environment: the parts unread."""
    if not any(read.startswith(way) or way.startswith(read) for read in reads):
        return {at}
    match expression:
        case (b"\x04", (left, (right, b""))):
            found = _unread(left, at + "rf", way + "f", reads)
            return found | _unread(right, at + "rrf", way + "r", reads)
    return set()


def reads_of(code: Value) -> set[str]:
    """The ways into its environment that code may look up; "" where it may take all of it.

    >>> from clsp.values import deserialize
    >>> sorted(reads_of(deserialize(bytes.fromhex("ff10ff02ff0580"))))  # (+ 2 5)
    ['f', 'rf']
    """
    if isinstance(code, bytes):
        return {steps(code)} if code else set()
    head, _ = code
    if head == QUOTE:
        return set()
    if isinstance(head, tuple):
        return {""}
    given = operands(code)
    if head == APPLY and len(given) == 2 and given[1] == b"\x01":
        return _reads_of_run(given[0])
    return {way for operand in given for way in reads_of(operand)}


def _reads_of_run(made: Value) -> set[str]:
    """As `reads_of`, of `(a MADE 1)`: what is run has the same environment."""
    match made:
        case (b"\x01", code):
            return reads_of(code)
        case (bytes(head), _) if head == IF and len(operands(made)) == 3:
            test, one, other = operands(made)
            return reads_of(test) | _reads_of_run(one) | _reads_of_run(other)
    return {""}  # code from elsewhere may look at anything
