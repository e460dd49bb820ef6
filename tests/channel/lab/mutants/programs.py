"""Small programs for these tests, written as lists of operators, paths and quotes."""

from __future__ import annotations

from typing import TypeAlias

from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, int_to_atom, serialize, to_list

Written: TypeAlias = "int | tuple[Written, ...] | Quoted"


class Quoted:
    def __init__(self, value: Value) -> None:
        self.value = value


def code(written: Written) -> Value:
    """`(16, 2, 5)` is `(+ 2 5)`; `q(7)` is `(q . 7)`."""
    match written:
        case int():
            return int_to_atom(written)
        case Quoted():
            return (b"\x01", written.value)
        case _:
            return to_list(map(code, written))


def q(what: Written) -> Quoted:
    return Quoted(code(what))


def program(written: Written) -> Program:
    return Program(serialize(code(written)))


def module(main: Written, *functions: Written) -> Program:
    """A program with functions, as the compiler makes it: one stands at path 2, two at 4 and 6."""
    if len(functions) == 1:
        tree = code(functions[0])
    else:
        one, other = functions
        tree = (code(one), code(other))
    written = (b"\x02", ((b"\x01", code(main)), (_environment(tree), b"")))
    return Program(serialize(written))


def _environment(tree: Value) -> Value:
    return to_list((b"\x04", (b"\x01", tree), b"\x01"))
