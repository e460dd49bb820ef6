"""Which parts of a compiled program are code, and the expressions in it.

Code is what `a` runs: the program itself, what it quotes for `a` (through any `i` that chooses),
and the functions of a module, which stand as one tree at the left of the environment and are
called by their paths. All other quoted values are data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from channel.lab.mutants.show import CODES
from clsp.operators import APPLY, IF, QUOTE
from clsp.values import Value, tree_hash

MAIN = "main"
"""What the code is called that is in no function."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of a program's code.

    `at` is the way to it from the root, "f" and "r" as the operators, `start` the way to its
    `function`; `number` counts the function's expressions from 1, as they stand in the text.
    `role` says how its parent uses it: "value", "condition" (of `i`, `not`, `all`, `any`), "code"
    (for `a`).
    `tested`: of its value it only matters whether it is `()`, here and wherever it is handed on.
    """

    at: str
    value: Value
    start: str
    function: str
    number: int
    role: str
    tested: bool

    @property
    def operands(self) -> tuple[Value, ...]:
        """The operands of an operator; none of an atom or of what is quoted."""
        return operands(self.value)


def operands(value: Value) -> tuple[Value, ...]:
    """The operands of an expression with an operator."""
    if not isinstance(value, tuple) or value[0] == QUOTE:
        return ()
    found, rest = [], value[1]
    while isinstance(rest, tuple):
        found.append(rest[0])
        rest = rest[1]
    return tuple(found)


def steps(path: bytes) -> str:
    """The way that a path of the environment goes, "f" and "r" from the outside in.

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


def subtree(value: Value, at: str) -> Value | None:
    """What stands there; None for a way into an atom."""
    for step in at:
        if not isinstance(value, tuple):
            return None
        value = value[step == "r"]
    return value


def replaced(value: Value, at: str, new: Value) -> Value:
    """The value with what stands at `at` replaced.

    >>> replaced((b"a", (b"b", b"c")), "rf", b"x")
    (b'a', (b'x', b'c'))
    """
    passed = []
    for step in at:
        assert isinstance(value, tuple), "a way that `expressions` gave"
        passed.append(value)
        value = value[step == "r"]
    for step, pair in zip(reversed(at), reversed(passed), strict=True):
        new = (pair[0], new) if step == "r" else (new, pair[1])
    return new


class Module:
    """A program's code: its functions and their expressions.

    `functions` maps the way to each function's body to its name, `main` first (the second one of
    a name is called "name 2"); `tree` is the way to the tree of all functions, None where the
    program has none. `symbols` are the compiler's, names by tree hash in hex.
    """

    def __init__(self, program: Value, symbols: Mapping[str, str] | None = None) -> None:
        self.root = program
        self.tree = _tree(program)
        self.functions = {"": MAIN}
        self._symbols = symbols or {}
        self._tested: set[str] = set()
        self._bodies: dict[str, list[_Place]] = {}
        waiting = [""]
        while waiting:
            start = waiting.pop(0)
            self._bodies[start] = list(self._inside(start, False))
            for place in self._bodies[start]:
                called = self.called(place.value, place.role)
                if called is not None and called not in self.functions:
                    self.functions[called] = self._label(called)
                    waiting.append(called)
        self._test()

    def expressions(self) -> list[Expression]:
        """Every expression, function by function, in the order of the text."""
        return [
            Expression(place.at, place.value, start, name, number, place.role, place.tested)
            for start, name in self.functions.items()
            for number, place in enumerate(self._bodies[start], 1)
        ]

    def body(self, start: str) -> Value:
        """The body of the function that starts there."""
        body = subtree(self.root, start)
        assert body is not None, "a key of `functions`"
        return body

    def called(self, value: Value, role: str) -> str | None:
        """The way to the function that a path to be run names; None of anything else."""
        if role != "code" or self.tree is None or not isinstance(value, bytes):
            return None
        way = steps(value)
        if not way.startswith("f") or not isinstance(
            subtree(self.root, self.tree + way[1:]), tuple
        ):
            return None
        return self.tree + way[1:]

    def _label(self, start: str) -> str:
        assert self.tree is not None
        named = self._symbols.get(tree_hash(self.body(start)).hex())
        name = named or f"function {start[len(self.tree) :]}"
        others = sum(other.split(" ")[0] == name for other in self.functions.values())
        return f"{name} {others + 1}" if others else name

    def _inside(self, start: str, tested: bool) -> Iterator[_Place]:
        for place in _inside(self.body(start), start, "code run", tested):
            if self.tree is None or place.at != self.tree[:-1]:
                yield place

    def _test(self) -> None:
        """Find the functions whose results are only tested: all but main, less those that some
        call wants the result of, until no more are found."""
        self._tested = set(self.functions) - {""}
        if any(_takes_function(place) for places in self._bodies.values() for place in places):
            self._tested = set()  # whoever has it as a value may want its result
        while True:
            self._bodies = {
                start: list(self._inside(start, start in self._tested)) for start in self.functions
            }
            wanted = {
                self.called(place.value, place.role)
                for places in self._bodies.values()
                for place in places
                if not place.tested
            }
            if not self._tested & wanted:
                return
            self._tested -= {start for start in wanted if start is not None}


@dataclass(frozen=True, slots=True)
class _Place:
    at: str
    value: Value
    role: str
    tested: bool


def _takes_function(place: _Place) -> bool:
    """Whether it looks up a single function other than to run it."""
    if place.role == "code" or not isinstance(place.value, bytes):
        return False
    way = steps(place.value)
    return len(way) > 1 and way[0] == "f"


def _tree(program: Value) -> str | None:
    """Where the functions are: in `(a (q . MAIN) (c (q . FUNCTIONS) 1))`, else nowhere."""
    match program:
        case (b"\x02", ((b"\x01", _), ((b"\x04", ((b"\x01", _), (b"\x01", b""))), b""))):
            return "rrfrfr"
    return None


def _inside(value: Value, at: str, role: str, tested: bool) -> Iterator[_Place]:
    """An expression and those inside it. "code run" is code that runs here."""
    yield _Place(at, value, "value" if role == "code run" else role, tested)
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
    """How an operator uses one of its operands, and whether it only asks if that is `()`."""
    if head == APPLY:
        return ("code", tested) if number == 0 else ("value", False)
    if head == IF:
        return ("condition", True) if number == 0 else (role.replace("code run", "value"), tested)
    if head in _LOGIC:
        return "condition", True
    return "value", False


_LOGIC = tuple(CODES[name] for name in ("not", "any", "all"))
