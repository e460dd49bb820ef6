"""Which nodes and branches of a program its cases reach, by the slow interpreter `clvm`.

The interpreter is a test dependency and takes a tenth of a second for a long run, so only a few
runs of different fingerprints come here, as many as a budget of cost allows.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import msgspec

from channel.lab.target import Target
from channel.lab.trial import Sample, Tally
from clsp.programs import Program

LEAST, A_CASE, MOST = 600_000, 20, 12_000_000
"""What the interpreted runs of one validator may cost in all: a base and something for each case,
up to a most; a second of the interpreter is some hundred thousands."""

UNKNOWN = 20_000
"""What a run that raised counts as: its cost is not told."""

ABSENT = "clvm is not installed: fingerprints only (pip install clvm counts nodes and branches)"

_QUOTE, _APPLY, _IF = b"\x01", b"\x02", b"\x03"
_OPERATORS = frozenset(bytes([code]) for code in range(2, 63))


class Reached(msgspec.Struct, frozen=True):
    """What of one validator was reached; None where there was nothing to count it with."""

    fingerprints: int
    nodes: int | None = None
    nodes_reached: int | None = None
    branches: int | None = None
    branches_reached: int | None = None


def available() -> bool:
    """Whether the interpreter is installed."""
    try:
        import clvm  # noqa: F401
    except ImportError:
        return False
    return True


def coverage(target: Target, tally: Tally) -> dict[str, Reached]:
    """What the runs of a crosscheck reached, by validator."""
    found = {}
    installed = available()
    budget = min(MOST, LEAST + A_CASE * tally.tried.total())
    for name, program in target.programs.items():
        prints = len(tally.prints.get(name, ()))
        if not installed or name in tally.runaway:
            found[name] = Reached(prints)
            continue
        map_ = Map(program)
        map_.run_all(in_turn(tally.samples.get(name, {})), budget)
        nodes, branches = map_.nodes, map_.branches
        found[name] = Reached(
            prints,
            len(nodes),
            len(map_.reached & nodes),
            2 * len(branches),
            sum(1 for key, _ in map_.taken if key in branches),
        )
    return found


def in_turn(by_end: dict[str, list[Sample]]) -> Iterator[Sample]:
    """The kept runs, one of each way to end, then the second ones, and so on.

    >>> list(in_turn({"valid": [(9, b"1"), (8, b"3")], "RULE-1": [(7, b"2")]}))
    [(9, b'1'), (7, b'2'), (8, b'3')]
    """
    for runs in zip_longest(*by_end.values()):
        yield from (run for run in runs if run is not None)


_Branch = tuple[object, object]
"""The two sides of an `(i test (q . A) (q . B))`: the pairs of the tree that they are."""


@dataclass
class Map:
    """A program's tree, and what of it was evaluated.

    Nodes are the expressions with an operator; a branch is one side of an `i` that chooses
    between two pieces of code. Which quoted data is code is told by its shape: what `i` and `a`
    get quoted, and the functions of a compiled module, each a list that starts with an operator.
    """

    program: Program
    nodes: set[int] = field(default_factory=set)
    branches: set[_Branch] = field(default_factory=set)
    reached: set[int] = field(default_factory=set)
    taken: set[tuple[_Branch, bool]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tree = _parse(self.program.serialized)
        self._code(self.tree)

    def run_all(self, runs: Iterable[tuple[int, bytes]], budget: int) -> None:
        """Interpret runs, given their costs and arguments, as far as the budget goes."""
        for cost, arguments in runs:
            budget -= cost or UNKNOWN
            if budget < 0:
                return
            self.run(arguments)

    def run(self, arguments: bytes) -> None:
        """Interpret one run; how it ends does not matter."""
        from clvm.EvalError import EvalError
        from clvm.operators import OPERATOR_LOOKUP
        from clvm.run_program import run_program

        def before(sexp: Any, _environment: Any) -> None:
            if sexp.pair is not None:
                self.reached.add(id(sexp.pair))

        def operator(op: bytes, operands: Any) -> Any:
            if op == _IF:
                test, one, other = operands.as_iter()
                self.taken.add(((_side(one), _side(other)), not test.nullp()))
            return OPERATOR_LOOKUP(op, operands)

        lookup: Any = _Lookup(operator, OPERATOR_LOOKUP)
        try:
            run_program(self.tree, _parse(arguments), lookup, MOST, pre_eval_f=before)
        except EvalError:
            return

    def _code(self, node: Any) -> None:
        """Note an expression, and those inside it."""
        if node.pair is None:
            return
        head, rest = node.pair
        if head.atom == _QUOTE:
            return
        self.nodes.add(id(node.pair))
        operands = []
        while rest.pair is not None:
            operands.append(rest.pair[0])
            rest = rest.pair[1]
        if head.atom == _IF and len(operands) == 3:
            sides = [_quoted(side) for side in operands[1:]]
            if all(sides) and any(side.pair is not None for side in sides):
                self.branches.add((_side(sides[0]), _side(sides[1])))
        for operand in operands:
            quoted = _quoted(operand)
            if quoted is None:
                self._code(operand)
            elif quoted.pair is not None:
                self._data(quoted)

    def _data(self, node: Any) -> None:
        """Quoted data: one piece of code, or a tree of functions and constants."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            if node.pair is None:
                continue
            if node.pair[0].atom in _OPERATORS and _is_list(node):
                self._code(node)
            else:
                waiting += node.pair


class _Lookup:
    """The interpreter's operators, watched."""

    def __init__(self, call: Any, original: Any) -> None:
        self._call = call
        self.quote_atom = original.quote_atom
        self.apply_atom = original.apply_atom

    def __call__(self, op: bytes, operands: Any) -> Any:
        return self._call(op, operands)


def _side(node: Any) -> object:
    return node.atom if node.pair is None else id(node.pair)


def _quoted(node: Any) -> Any:
    if node.pair is not None and node.pair[0].atom == _QUOTE:
        return node.pair[1]
    return None


def _is_list(node: Any) -> bool:
    while node.pair is not None:
        node = node.pair[1]
    return bool(node.atom == b"")


def _parse(blob: bytes) -> Any:
    from clvm.serialize import sexp_from_stream
    from clvm.SExp import SExp

    return sexp_from_stream(io.BytesIO(blob), SExp.to)
