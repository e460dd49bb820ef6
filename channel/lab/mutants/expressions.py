"""Find every expression of a program and how its value is used: the places that mutants change.

`channelsim.clsp.analysis.code` finds the code and the functions of a program. Here each
expression of that code, paths and constants included, is found by its way from the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from channelsim.channel.errors import InvariantError
from channelsim.clsp.analysis.code import Code, Function, Place
from channelsim.clsp.analysis.shapes import operands
from channelsim.clsp.operators import APPLY, CODES, IF, QUOTE
from channelsim.clsp.values import Value, serialize_atom


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of a program's code.

    `at` is the way to it from the root, "f" and "r" as the operators, `start` the way to the body
    that it is in, `place` that body's function and arguments. `function` is the function of the
    source that it belongs to; `number` counts the expressions of that from 1, in textual order.
    `role` says how its parent uses it: "value", "condition" (of `i`, `not`, `all`, `any`), "code"
    (for `a`).
    `tested`: of its value it only matters whether it is `()`, here and wherever it is passed on.
    """

    at: str
    value: Value
    start: str
    place: Place
    function: str
    number: int
    role: str
    tested: bool

    @property
    def operands(self) -> tuple[Value, ...]:
        """The operands of an operator; none for an atom or a quote."""
        return operands_of(self.value)


def operands_of(value: Value) -> tuple[Value, ...]:
    """The operands of an expression with an operator; none for a path or a constant."""
    return () if isinstance(value, tuple) and value[0] == QUOTE else tuple(operands(value))


def steps(path: bytes) -> str:
    """The steps of a path of the environment, "f" and "r" from the outside in.

    >>> steps(b"\\x02"), steps(b"\\x0d"), steps(b"\\x01")
    ('f', 'rfr', '')
    """
    number = int.from_bytes(path, "big")
    way = ""
    while number > 1:
        way += "fr"[number & 1]
        number >>= 1
    return way


def path(way: str) -> bytes:
    """The path that goes this way.

    >>> path("f"), path("rfr"), path("rrrrrrr")
    (b'\\x02', b'\\r', b'\\x00\\xff')
    """
    number = 1
    for step in reversed(way):
        number = number << 1 | (step == "r")
    atom = number.to_bytes((number.bit_length() + 7) // 8, "big")
    # As the compiler writes it: a number, so a top bit has a byte before it.
    return b"\x00" + atom if atom[0] & 0x80 else atom


def spans(value: Value) -> dict[str, tuple[int, int]]:
    """The start and end of every subtree in the serialized value, in bytes, by the way to it.

    >>> spans((b"a", (b"bc", b"")))
    {'f': (1, 2), 'rf': (3, 6), 'rr': (6, 7), 'r': (2, 7), '': (0, 7)}
    """
    spans: dict[str, tuple[int, int]] = {}
    at = 0
    # The subtrees to come, each with its way; of a pair that was begun, only where it starts.
    waiting: list[tuple[str, Value | int]] = [("", value)]
    while waiting:
        way, node = waiting.pop()
        match node:
            case int(start):
                spans[way] = (start, at)
            case (left, right):
                waiting += ((way, at), (way + "r", right), (way + "f", left))
                at += 1
            case bytes(atom):
                start = at
                at += len(serialize_atom(atom))
                spans[way] = (start, at)
    return spans


class Module:
    """A program's functions that are called, and their expressions.

    `bodies` maps the way to each body to its function, the program itself first. `symbols` are the
    compiler's.
    """

    def __init__(self, program: Value, symbols: Mapping[str, str] | None = None) -> None:
        self.code = Code(program, symbols)
        self._ways = dict(_ways(program))
        self.bodies: dict[str, Function] = {"": self.code.functions[0]}
        self._uses: dict[str, list[_Use]] = {}
        waiting = [""]
        while waiting:
            start = waiting.pop(0)
            self._uses[start] = list(self._inside(start, False))
            for use in self._uses[start]:
                called = self.called(use.value, use.role)
                if called is not None and called not in self.bodies:
                    self.bodies[called] = self._function(use.value)
                    waiting.append(called)
        self._find_tested()

    def expressions(self) -> list[Expression]:
        """Every expression, body by body, in textual order."""
        places = []
        numbers: dict[str, int] = {}
        for start, function in self.bodies.items():
            name = self.code.owner(function)
            for use in self._uses[start]:
                numbers[name] = numbers.get(name, 0) + 1
                place = Place(function, 1 if use.at == "" else _ARGUMENTS)
                places.append(
                    Expression(
                        *(use.at, use.value, start, place, name, numbers[name]),
                        *(use.role, use.tested),
                    )
                )
        return places

    def called(self, value: Value, role: str) -> str | None:
        """The way to the function that a path names; None for anything else."""
        if role != "code" or not isinstance(value, bytes):
            return None
        function = self.code.function_at(int.from_bytes(value, "big"), self._inner)
        return None if function is None else self._ways[id(function.body)]

    @property
    def has_functions(self) -> bool:
        """True if the program puts functions into its environment."""
        return bool(self.code.trees)

    @property
    def _inner(self) -> Place:
        return Place(self.code.functions[0], _ARGUMENTS)

    def _function(self, value: Value) -> Function:
        path = int.from_bytes(value, "big") if isinstance(value, bytes) else 0
        function = self.code.function_at(path, self._inner)
        if function is None:
            raise InvariantError(f"no function at the path {path}")
        return function

    def _inside(self, start: str, tested: bool) -> Iterator[_Use]:
        """The uses in one body, without the tree of all functions that the program quotes."""
        trees = {id(tree) for tree in self.code.trees}
        for use in _inside(self.bodies[start].body, start, "code run", tested):
            quotes_tree = isinstance(use.value, tuple) and id(use.value[1]) in trees
            if not quotes_tree:
                yield use

    def _find_tested(self) -> None:
        """Find the functions whose results are only tested: all but the program itself, less those
        of which some call uses the result, until no more are found."""
        tested = set(self.bodies) - {""}
        if any(_takes_function(use) for uses in self._uses.values() for use in uses):
            tested = set()  # code that has it as a value may use its result
        while True:
            self._uses = {
                start: list(self._inside(start, start in tested)) for start in self.bodies
            }
            names = {
                self.called(use.value, use.role)
                for uses in self._uses.values()
                for use in uses
                if not use.tested
            }
            if not tested & names:
                return
            tested -= {start for start in names if start is not None}


_ARGUMENTS = 3
"""The path of the arguments in an environment that has the functions at its left."""


@dataclass(frozen=True, slots=True)
class _Use:
    """An expression where it is used."""

    at: str
    value: Value
    role: str
    tested: bool


def _ways(root: Value) -> Iterator[tuple[int, str]]:
    """The way to each pair of a tree, by the pair's identity."""
    waiting = [(root, "")]
    while waiting:
        value, at = waiting.pop()
        if isinstance(value, tuple):
            yield id(value), at
            waiting += ((value[1], at + "r"), (value[0], at + "f"))


def _takes_function(use: _Use) -> bool:
    """True if it reads a function without running it."""
    if use.role == "code" or not isinstance(use.value, bytes):
        return False
    way = steps(use.value)
    return len(way) > 1 and way[0] == "f"


def _inside(value: Value, at: str, role: str, tested: bool) -> Iterator[_Use]:
    """An expression and those inside it. "code run" is code that runs here."""
    yield _Use(at, value, "value" if role == "code run" else role, tested)
    if not isinstance(value, tuple):
        return
    head, rest = value
    if head == QUOTE:
        if role == "code":
            yield from _inside(rest, at + "r", "code run", tested)
        return
    if isinstance(head, tuple):
        return
    at += "r"
    number = 0
    while isinstance(rest, tuple):
        yield from _inside(rest[0], at + "f", *_role(head, number, role, tested))
        at, rest, number = at + "r", rest[1], number + 1


def _role(head: bytes, number: int, role: str, tested: bool) -> tuple[str, bool]:
    """The use of an operand by its operator, and whether only its being `()` matters."""
    if head == APPLY:
        return ("code", tested) if number == 0 else ("value", False)
    if head == IF:
        return ("condition", True) if number == 0 else (role.replace("code run", "value"), tested)
    if head in _LOGIC:
        return "condition", True
    return "value", False


_LOGIC = tuple(CODES[name] for name in ("not", "any", "all"))
