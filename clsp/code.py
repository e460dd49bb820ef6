"""The code of a program among its data: expressions, branches, functions and constants.

An expression is a node with an operator; its id is its place among them in the program as it is
written, from 0. A branch is one side of an `i` that chooses between two pieces of code: side
``2 * n`` of choice `n` is taken when the test holds, ``2 * n + 1`` when it does not.

What is code is found by following the program (:mod:`clsp.flow`), and by the names that the
compiler gives to the hashes of functions, which also find functions that nothing calls. Without
names, what is left in a tree of functions counts as code when it is built like code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clsp.deep import deep
from clsp.flow import Flow, Known, Piece, pair
from clsp.operators import IF, NAMES, QUOTE
from clsp.programs import Program
from clsp.values import NIL, Value, tree_hash_atom, tree_hash_pair

MAIN = "main"
"""What the program's own expression is called."""


@dataclass(frozen=True, slots=True)
class Function:
    """A named piece of code; `arguments` are as its source has them, "" where that is not known."""

    name: str
    arguments: str
    body: Value


class Code:
    """What of a program is code. Pieces are told apart by identity: `root` is the one tree.

    `expressions` are the nodes by id, `choices` the ids of those that choose between pieces of
    code, `owners` the function that each expression is written in, all in the same order.
    """

    def __init__(self, program: Program, symbols: Mapping[str, str] | None = None) -> None:
        self.root = program.value
        self._parts = {id(part) for part in _parts(self.root)}
        with deep():
            flow = self._flow(symbols or {})
            self.expressions: list[Value] = []
            self.owners: list[str] = []
            self._ids: dict[int, int] = {}
            self._write(flow)
        self.choices = [
            number
            for number, node in enumerate(self.expressions)
            if id(node) in flow.choices or _chooses_code(node, flow)
        ]
        self._choices = {id(self.expressions[number]): n for n, number in enumerate(self.choices)}

    def id_of(self, node: Value) -> int | None:
        """The id of an expression of this tree, None of anything else."""
        return self._ids.get(id(node))

    def holds(self, node: Value) -> bool:
        """Whether this pair is a part of the program itself."""
        return id(node) in self._parts

    def choice_of(self, node: Value) -> int | None:
        """Which choice this expression is, None if it is none."""
        return self._choices.get(id(node))

    def function_of(self, body: Value) -> Function | None:
        """The function whose body is exactly this piece."""
        return self._functions.get(id(body))

    @property
    def functions(self) -> list[Function]:
        """Every function that has code, in the order in which they are written; `main` first."""
        return list(self._functions.values())

    def constants(self) -> tuple[bytes, ...]:
        """The atoms that the program has as data, sorted, each once."""
        found: set[bytes] = set()
        waiting: list[Value] = [self.root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, bytes):
                found.add(node)
            elif id(node) not in self._ids:
                waiting += node[1:] if node[0] == QUOTE else node
            else:
                # Operands that are atoms are paths.
                waiting += [operand for operand in operands(node) if isinstance(operand, tuple)]
        return tuple(sorted(found))

    # --- finding it ---------------------------------------------------------------------------

    def _flow(self, symbols: Mapping[str, str]) -> Flow:
        flow = Flow(self.root)
        bodies = {id(body): function for body, function in _named(self.root, symbols)}
        trees = {id(part): tree for tree in flow.trees.values() for part in _parts(tree)}
        for key, function in bodies.items():
            if key not in flow.code:
                flow.follow(function.body, _environment(trees.get(key)))
        if not symbols:
            for tree in list(flow.trees.values()):
                for body in _left_over(tree, flow):
                    flow.follow(body, _environment(tree))
        arguments = symbols.get("__chia__main_arguments", "")
        self._functions = {id(self.root): Function(MAIN, arguments, self.root)}
        for tree in flow.trees.values():
            for body in _outermost(tree, flow):
                name = f"function {len(bodies) + 1}"
                bodies.setdefault(id(body), Function(name, "", body))
        self._named = bodies
        return flow

    def _write(self, flow: Flow) -> None:
        """Number the expressions in the order in which they are written, by function."""
        waiting = [(self.root, MAIN)]
        while waiting:
            node, owner = waiting.pop()
            if not isinstance(node, tuple):
                continue
            function = self._named.get(id(node))
            if function is not None:
                owner = function.name
                self._functions[id(node)] = function
            if id(node) in flow.expressions:
                self._ids[id(node)] = len(self.expressions)
                self.expressions.append(node)
                self.owners.append(owner)
            waiting.append((node[1], owner))
            waiting.append((node[0], owner))


def operands(node: Value) -> Iterator[Value]:
    """The operands of an expression, as they are written."""
    rest = node[1] if isinstance(node, tuple) else NIL
    while isinstance(rest, tuple):
        yield rest[0]
        rest = rest[1]


def quoted(node: Value) -> Value | None:
    """What an expression quotes; None when it is no quote."""
    return node[1] if isinstance(node, tuple) and node[0] == QUOTE else None


def looks_like_code(node: Value) -> bool:
    """Whether a value is built like an expression: a proper list after an operator that there
    is, of atoms, quotes and such expressions.

    >>> looks_like_code((b"\\x10", (b"\\x02", (b"\\x05", b""))))
    True
    >>> looks_like_code((b"\\x10", (b"\\x02", b"\\x05")))
    False
    """
    if not isinstance(node, tuple) or node[0] not in NAMES:
        return False
    rest = node[1]
    while isinstance(rest, tuple):
        operand, rest = rest
        if isinstance(operand, tuple) and operand[0] != QUOTE and not looks_like_code(operand):
            return False
    return rest == NIL


def _chooses_code(node: Value, flow: Flow) -> bool:
    if not isinstance(node, tuple) or node[0] != IF:
        return False
    sides = [quoted(operand) for operand in operands(node)][1:]
    return len(sides) == 2 and None not in sides and any(id(side) in flow.code for side in sides)


def _environment(tree: Value | None) -> Known:
    return None if tree is None else pair(Piece(tree), None)


def _named(root: Value, symbols: Mapping[str, str]) -> Iterator[tuple[Value, Function]]:
    """The pieces whose hash the compiler has a name for."""
    if not symbols:
        return
    for node, node_hash in _hashes(root):
        name = symbols.get(node_hash.hex())
        if name is not None and isinstance(node, tuple):
            arguments = symbols.get(f"{node_hash.hex()}_arguments", "")
            yield node, Function(name, arguments, node)


def _hashes(root: Value) -> Iterator[tuple[Value, bytes]]:
    """Every piece with its tree hash, the inner ones first."""
    waiting: list[tuple[Value, bool]] = [(root, False)]
    done: list[bytes] = []
    while waiting:
        node, seen = waiting.pop()
        if isinstance(node, bytes):
            done.append(tree_hash_atom(node))
        elif not seen:
            waiting += ((node, True), (node[1], False), (node[0], False))
            continue
        else:
            right = done.pop()
            done.append(tree_hash_pair(done.pop(), right))
        yield node, done[-1]


def _parts(tree: Value) -> Iterator[Value]:
    """The pairs inside a tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            yield node
            waiting += node


def _left_over(tree: Value, flow: Flow) -> Iterator[Value]:
    """What in a tree of functions is built like code, and was not reached as such."""
    inside = {id(node) for node in _around(tree, flow)}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, tuple) or id(node) in flow.code:
            continue
        if id(node) not in inside and looks_like_code(node):
            yield node
        else:
            waiting += node


def _outermost(tree: Value, flow: Flow) -> Iterator[Value]:
    """The pieces of code in a tree that are not inside of other code, from left to right."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in flow.code:
            yield node
        elif isinstance(node, tuple):
            waiting += (node[1], node[0])


def _around(tree: Value, flow: Flow) -> Iterator[Value]:
    """The pairs of a tree that code which was reached is inside of."""
    waiting: list[tuple[Value, tuple[Value, ...]]] = [(tree, ())]
    while waiting:
        node, above = waiting.pop()
        if not isinstance(node, tuple):
            continue
        if id(node) in flow.code:
            yield from above
            continue
        waiting += ((side, (*above, node)) for side in node)
