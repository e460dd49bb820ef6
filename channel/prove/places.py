"""The place of an expression of a program, as text."""

from __future__ import annotations

from channelsim.clsp.analysis.code import Code
from channelsim.clsp.analysis.disassembly import Disassembly
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.programs import Program, symbols
from channelsim.clsp.values import Value

ROOM = 80
"""The text of an expression is cut after this many characters."""


def place_of(program: Program, value: Value, node: Value) -> str:
    """An expression of a program with its function, as text.

    `value` is the program's value of which `node` is a part: places are found by identity.
    """
    code = Code(value, symbols(program))
    place = code.place_of(node)
    if place is None:
        return value_text(node, ROOM)
    return f"{place.function.name}: {Disassembly(code).text(node, ROOM)}"
