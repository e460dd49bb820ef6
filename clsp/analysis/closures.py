"""Compile CLVM expressions to Python functions of their environment, for the tracer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from channelsim.clsp.operators import Operator, OperatorError
from channelsim.clsp.values import NIL, Value

Run: TypeAlias = Callable[[Value], Value]
"""A compiled expression: its value in an environment."""


class Watcher(Protocol):
    """Observer of a run: called when an expression begins and when it has a value."""

    def begins(self, node: Value, environment: Value) -> None:
        """An expression is about to be evaluated."""

    def applies(self, code: Value, environment: Value) -> None:
        """The innermost open expression runs this code in this environment."""

    def ends(self, value: Value) -> None:
        """The innermost open expression has this value."""


def path(atom: bytes) -> Run:
    """Compile a path of the environment: its bits are read from the lowest, 1 is right.

    >>> path(b"\x05")((b"a", (b"b", b"")))
    b'b'
    """
    steps = int.from_bytes(atom, "big")
    if steps < 2:
        return _itself if steps else constant(NIL)
    sides = [steps >> bit & 1 for bit in range(steps.bit_length() - 1)]

    def run(environment: Value) -> Value:
        value = environment
        for side in sides:
            if type(value) is not tuple:
                raise OperatorError("a path into an atom")
            value = value[side]
        return value

    return run


def _itself(environment: Value) -> Value:
    return environment


def constant(value: Value) -> Run:
    """Compile a constant: the same value in any environment."""
    return lambda environment: value


def never(*values: Value) -> Value:
    """Stand in for an operator that the tracer handles itself; it is never called."""
    raise AssertionError("not called: the number of operands is wrong")


def call_of(operator: Operator, given: list[Run], hits: bytearray, here: int) -> Run:
    """Compile an operator applied to its operands; the last operand is evaluated first."""
    call = operator.call
    if not operator.least <= len(given) <= operator.most:

        def call(*values: Value) -> Value:
            """Raise: the number of operands is wrong."""
            raise OperatorError(f"{operator.name} of {len(values)} operands")

    match given:
        case [first]:

            def run(environment: Value) -> Value:
                hits[here] = 1
                return call(first(environment))

        case [first, second]:

            def run(environment: Value) -> Value:
                hits[here] = 1
                last = second(environment)
                return call(first(environment), last)

        case _:
            backwards = given[::-1]

            def run(environment: Value) -> Value:
                hits[here] = 1
                values = []
                for operand in backwards:
                    values.append(operand(environment))
                return call(*values[::-1])

    return run


def watched(node: Value, run: Run, watcher: Watcher) -> Run:
    """Wrap a compiled expression so that it notifies a watcher."""

    def run_and_notify(environment: Value) -> Value:
        """Evaluate the expression between the calls of the watcher."""
        watcher.begins(node, environment)
        value = run(environment)
        watcher.ends(value)
        return value

    return run_and_notify


FRAMES = 100_000
"""Calls inside each other. Python keeps those of its own functions off the machine's stack."""


@contextmanager
def deep(frames: int = FRAMES) -> Iterator[None]:
    """Raise the recursion limit to this many frames for a block of code."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
