"""Separate the code of a program from its data: expressions, branches and functions.

An expression is a node with an operator; its id is its place among them in the program as it is
written, from 0. A branch is one side of an `i` that chooses between two pieces of code: side
`2 * n` of choice `n` is taken when the test holds, `2 * n + 1` when it does not.

Code is found by following the program (`clsp.analysis.flow`) and by the compiler's symbols,
which map the tree hash of each function to its name and so also find functions that are never
called. Without symbols, a part of the tree of functions that is never called counts as code when
it has the shape of code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.analysis.flow import CodePiece, Flow, Known, pair
from channelsim.clsp.analysis.shapes import is_choice, looks_like_code, operands, quoted
from channelsim.clsp.operators import APPLY, QUOTE
from channelsim.clsp.values import Value, tree_hash_atom, tree_hash_pair

MAIN = "main"
"""The name of the program's own expression."""

LET = "letbinding"
"""The compiler's name for the body of a `let` or `assign`, which it makes a function."""


@dataclass(frozen=True, slots=True)
class Function:
    """A named piece of code; `arguments` are in the notation of its source, "" if unknown."""

    name: str
    arguments: str
    body: Value


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an expression: its function, and the path of that function's arguments in its
    environment: 1, or 3 beside the functions, or 0 if unknown."""

    function: Function
    arguments: int


class Code:
    """The code of a program. Pieces are told apart by identity in the tree `root`.

    `expressions` are the nodes by id, `places` where each is written, `owners` the name of the
    function that each counts for: the bodies of a `let` count for the function that has it.
    `choices` are the ids of those that choose between pieces of code.
    """

    def __init__(
        self, root: Value, symbols: Mapping[str, str] | None = None, name: str = MAIN
    ) -> None:
        self.root = root
        self._parts = {id(part) for part in _parts(root)}
        self.expressions: list[Value] = []
        self.places: list[Place] = []
        self._ids: dict[int, int] = {}
        # Of each piece of code, the function that it is in.
        self._inside: dict[int, Function] = {}
        with deep():
            self._flow = self._followed(symbols or {}, name)
            place = Place(self._functions[id(root)], 1)
            self._data(root, place, 1)
        self.owners = [self.owner(place.function) for place in self.places]
        self.choices = [
            number
            for number, node in enumerate(self.expressions)
            if id(node) in self._flow.choices or _chooses_code(node, self._flow)
        ]
        self._choices = {id(self.expressions[number]): n for n, number in enumerate(self.choices)}

    def id_of(self, node: Value) -> int | None:
        """The id of an expression of this tree; None for anything else."""
        return self._ids.get(id(node))

    def place_of(self, node: Value) -> Place | None:
        """The place of an expression of this tree; None for anything else."""
        number = self.id_of(node)
        return None if number is None else self.places[number]

    def holds(self, node: Value) -> bool:
        """True if this pair is a part of the program itself."""
        return id(node) in self._parts

    def choice_of(self, node: Value) -> int | None:
        """The number of this choice; None for any other expression."""
        return self._choices.get(id(node))

    def function_of(self, body: Value) -> Function | None:
        """The function whose body is exactly this piece; None if there is none."""
        return self._functions.get(id(body))

    @property
    def trees(self) -> list[Value]:
        """The trees of functions that the program puts into environments."""
        return list(self._flow.trees.values())

    @property
    def functions(self) -> list[Function]:
        """Every function in source order, after the program itself."""
        return list(self._functions.values())

    def function_at(self, path: int, place: Place) -> Function | None:
        """The function at this path of a place's environment; None if unknown."""
        if place.arguments != 3 or path & 1 or path < 2:
            return None
        for tree in self.trees:
            node, steps = tree, path >> 1
            while steps > 1 and isinstance(node, tuple):
                node, steps = node[steps & 1], steps >> 1
            if steps == 1 and id(node) in self._functions:
                return self._functions[id(node)]
        return None

    # --- finding it ---------------------------------------------------------------------------

    def _followed(self, symbols: Mapping[str, str], name: str) -> Flow:
        """Follow the program and its uncalled functions, and name all functions."""
        flow = Flow(self.root)
        bodies = _named(self.root, symbols)
        trees = {id(part): tree for tree in flow.trees.values() for part in _parts(tree)}
        for key, function in bodies.items():
            if key not in flow.code:
                flow.follow(function.body, _environment(trees.get(key)))
        if not symbols:
            for tree in list(flow.trees.values()):
                for body in _outermost(tree, lambda part: _looks_followed(part, flow)):
                    if id(body) not in flow.code:
                        flow.follow(body, _environment(tree))
        for tree in flow.trees.values():
            for body in _outermost(tree, lambda part: id(part) in flow.code):
                unnamed = Function(f"function {len(bodies) + 1}", "", body)
                bodies.setdefault(id(body), unnamed)
        arguments = symbols.get("__chia__main_arguments", "")
        main = bodies.pop(id(self.root), Function(name, arguments, self.root))
        self._functions = {id(self.root): main} | bodies
        self._in_trees = {id(part) for tree in flow.trees.values() for part in _parts(tree)}
        return flow

    def _data(self, node: Value, place: Place, arguments: int) -> None:
        """Look for code in quoted data; when it runs, its arguments are at this path."""
        if not isinstance(node, tuple):
            return
        function = self._functions.get(id(node))
        if function is not None and function is not place.function:
            place = Place(function, 3 if id(node) in self._in_trees else 1)
        elif id(node) in self._flow.code:
            place = Place(place.function, arguments)
        if id(node) in self._flow.code:
            self._inside[id(node)] = place.function
            self._expression(node, place)
        else:
            self._data(node[0], place, 0)
            self._data(node[1], place, 0)

    def _expression(self, node: Value, place: Place, sides: int = 0) -> None:
        """Number an expression and those inside it, in source order.

        `sides` is the path of the arguments of both sides of a choice, where they are run.
        """
        if not isinstance(node, tuple) or id(node) in self._ids:
            return
        head = node[0]
        if head == QUOTE:
            self._data(node[1], place, 0)
            return
        self._ids[id(node)] = len(self.expressions)
        self.expressions.append(node)
        self.places.append(place)
        if isinstance(head, tuple):
            self._data(node[1], place, 0)
            return
        given = list(operands(node))
        arguments = [0, sides, sides] if sides else [0] * len(given)
        if head == APPLY and len(given) == 2:
            arguments[0] = _moved(given[1], place.arguments)
        for operand, inner in zip(given, arguments, strict=True):
            body = quoted(operand)
            if body is not None:
                self._data(body, place, inner)
            else:
                self._expression(operand, place, inner if inner and is_choice(operand) else 0)

    def owner(self, function: Function) -> str:
        """The name of the source function that contains this one.

        The body of a `let` that several functions share belongs to none of them.
        """
        seen: set[int] = set()
        while function.name == LET and id(function.body) not in seen:
            seen.add(id(function.body))
            users = {
                id(user.body): user
                for key in self._flow.callers.get(id(function.body), ())
                if (user := self._inside.get(key)) is not None
            }
            if len(users) != 1:
                break
            (function,) = users.values()
        return function.name


def _moved(environment: Value, arguments: int) -> int:
    """The path of the arguments in an environment built from another one."""
    if environment == b"\x01":
        return arguments
    match environment:
        case (b"\x04", ((b"\x01", _), (b"\x01", b""))) if arguments == 1:
            return 3
        case _:
            return 0


def _chooses_code(node: Value, flow: Flow) -> bool:
    return is_choice(node) and any(id(quoted(side)) in flow.code for side in operands(node))


def _environment(tree: Value | None) -> Known:
    return None if tree is None else pair(CodePiece(tree), None)


def _named(root: Value, symbols: Mapping[str, str]) -> dict[int, Function]:
    """The functions that the compiler has a name for, inner ones first, by the id of the body."""
    functions: dict[int, Function] = {}

    def hashed(node: Value) -> bytes:
        """The tree hash of a piece, once the functions inside of it are named."""
        if isinstance(node, bytes):
            return tree_hash_atom(node)
        node_hash = tree_hash_pair(hashed(node[0]), hashed(node[1]))
        key = node_hash.hex()
        if key in symbols:
            arguments = symbols.get(f"{key}_arguments", "")
            functions[id(node)] = Function(symbols[key], arguments, node)
        return node_hash

    if symbols:
        hashed(root)
    return functions


def _parts(tree: Value) -> Iterator[Value]:
    """The pairs inside a tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            yield node
            waiting += node


def _outermost(tree: Value, is_code: Callable[[Value], bool]) -> Iterator[Value]:
    """The outermost pairs of a tree that pass a test, from left to right."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            if is_code(node):
                yield node
            else:
                waiting += (node[1], node[0])


def _looks_followed(part: Value, flow: Flow) -> bool:
    """True if a part of a tree of functions was reached, or has the shape of code and no part that
    was reached."""
    if id(part) in flow.code:
        return True
    return looks_like_code(part) and not any(_outermost(part, lambda node: id(node) in flow.code))
