"""Coverage of a run by the independent interpreter `clvm`, which is slow.

What is code among quoted data is told by its shape here, so this holds for programs whose data
is not built like code: ours are not. Choices between two atoms are not counted.
"""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

from clvm.EvalError import EvalError
from clvm.operators import OPERATOR_LOOKUP
from clvm.run_program import run_program
from clvm.serialize import sexp_from_stream
from clvm.SExp import SExp

from channelsim.clsp.analysis.tracer import Reach
from channelsim.clsp.programs import Program

MAX_COST = 10**12
_QUOTE, _IF = b"\x01", b"\x03"
_OPERATORS = frozenset(bytes([code]) for code in range(2, 63))


class Oracle:
    """A program's tree, its expressions and its choices in the order in which they are written.

    `reach` gives the numbers of those that a run reaches, and of the sides taken: two a choice,
    first the one of a test that holds.
    """

    def __init__(self, program: Program) -> None:
        self.tree: Any = sexp_from_stream(io.BytesIO(program.serialized), SExp.to)
        nodes: dict[int, Any] = {}
        self.choices: dict[tuple[object, object], int] = {}
        self._code(self.tree, nodes)
        order = {key: place for place, key in enumerate(_in_order(self.tree))}
        self.nodes = {key: n for n, key in enumerate(sorted(nodes, key=order.__getitem__))}
        choices = sorted(self.choices, key=lambda sides: order[self.choices[sides]])
        self.choices = {sides: n for n, sides in enumerate(choices)}

    def reach(self, arguments: bytes) -> Reach:
        reached: set[int] = set()
        sides: set[int] = set()

        def before(sexp: Any, _environment: Any) -> None:
            if sexp.pair is not None and id(sexp.pair) in self.nodes:
                reached.add(self.nodes[id(sexp.pair)])

        def call(op: bytes, operands: Any) -> Any:
            if op == _IF:
                test, *both = operands.as_iter()
                choice = self.choices.get((_side(both[0]), _side(both[1])))
                if choice is not None:
                    sides.add(2 * choice + test.nullp())
            return OPERATOR_LOOKUP(op, operands)

        environment = sexp_from_stream(io.BytesIO(arguments), SExp.to)
        lookup: Any = _Lookup(call)
        with suppress(EvalError):
            run_program(self.tree, environment, lookup, MAX_COST, pre_eval_f=before)
        return Reach(frozenset(reached), frozenset(sides))

    def _code(self, node: Any, nodes: dict[int, Any]) -> None:
        if node.pair is None:
            return
        head, rest = node.pair
        if head.atom == _QUOTE:
            return
        nodes[id(node.pair)] = node.pair
        operands = list(rest.as_iter())
        if head.atom == _IF and len(operands) == 3:
            # The older dialects write a side `(q)` as `()`.
            sides = [side if side.nullp() else _quoted(side) for side in operands[1:]]
            if all(side is not None for side in sides):
                key = _side(sides[0]), _side(sides[1])
                assert key not in self.choices, f"two choices between {key} look the same"
                self.choices[key] = id(node.pair)
        for operand in operands:
            quoted = _quoted(operand)
            if quoted is None:
                self._code(operand, nodes)
            elif quoted.pair is not None:
                self._data(quoted, nodes)

    def _data(self, node: Any, nodes: dict[int, Any]) -> None:
        if node.pair is None:
            return
        if node.pair[0].atom in _OPERATORS and _is_list(node):
            self._code(node, nodes)
        else:
            for side in node.pair:
                self._data(side, nodes)


class _Lookup:
    """The interpreter's operators, watched."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self.quote_atom = OPERATOR_LOOKUP.quote_atom
        self.apply_atom = OPERATOR_LOOKUP.apply_atom

    def __call__(self, op: bytes, operands: Any) -> Any:
        return self._call(op, operands)


def _in_order(tree: Any) -> list[int]:
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if node.pair is not None:
            found.append(id(node.pair))
            waiting += (node.pair[1], node.pair[0])
    return found


def _side(node: Any) -> object:
    return node.atom if node.pair is None else id(node.pair)


def _quoted(node: Any) -> Any:
    return node.pair[1] if node.pair is not None and node.pair[0].atom == _QUOTE else None


def _is_list(node: Any) -> bool:
    while node.pair is not None:
        node = node.pair[1]
    return bool(node.atom == b"")
