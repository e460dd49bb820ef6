"""Data-flow analysis of a program: follow its code in a partly known environment.

A program carries its functions as quoted data, which its main expression puts into the
environment, so the shape of data does not show what is code. Here every expression is evaluated
with the knowledge of its environment: pieces of the program itself, pairs of known values, or
nothing. That terminates, since the knowledge of an environment only ever shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

from channelsim.clsp.operators import APPLY, IF, QUOTE
from channelsim.clsp.values import NIL, Value

MOST_CHOICES = 32
"""When a value may be one of more pieces than this, it may be anything."""

DEEPEST = 200
"""The depth of pairs below which nothing is known."""


@dataclass(frozen=True, slots=True)
class CodePiece:
    """This very piece of the program, by identity rather than equality."""

    value: Value

    def __hash__(self) -> int:
        return hash(self.value) if isinstance(self.value, bytes) else id(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodePiece):
            return NotImplemented
        if isinstance(self.value, bytes):
            return self.value == other.value
        return self.value is other.value


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair that the program builds; `depth` is the number of nested pairs."""

    left: Known
    right: Known
    depth: int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several pieces, in the order in which they were found."""

    pieces: tuple[CodePiece, ...]


Known: TypeAlias = CodePiece | Pair | AnyOf | None
"""Knowledge of a value; None: nothing is known."""


def split(known: Known) -> tuple[Known, Known] | None:
    """The two sides of a known pair; None for anything else."""
    match known:
        case Pair(left, right, _):
            return left, right
        case CodePiece((left, right)):
            return CodePiece(left), CodePiece(right)
        case _:
            return None


def pair(left: Known, right: Known) -> Known:
    """Combine the knowledge of two sides; None if both are unknown."""
    if left is None and right is None:
        return None
    depth = 1 + max(_depth(left), _depth(right))
    return Pair(left, right, depth) if depth <= DEEPEST else None


def _depth(known: Known) -> int:
    return known.depth if isinstance(known, Pair) else 0


def join(first: Known, second: Known) -> Known:
    """The knowledge of a value that is one or the other of two known ones."""
    if first == second:
        return first
    if first is None or second is None:
        return None
    pieces, more = _pieces(first), _pieces(second)
    if pieces and more:
        choices = (*pieces, *(piece for piece in more if piece not in pieces))
        if len(choices) > MOST_CHOICES:
            return None
        return AnyOf(choices) if len(choices) > len(pieces) else first
    sides, others = split(first), split(second)
    if sides is None or others is None:
        return None
    return pair(join(sides[0], others[0]), join(sides[1], others[1]))


def _pieces(known: Known) -> tuple[CodePiece, ...]:
    match known:
        case CodePiece():
            return (known,)
        case AnyOf(pieces):
            return pieces
        case _:
            return ()


@dataclass
class Flow:
    """The result of following a program's code; pieces are compared by identity.

    `code` are the pieces that run as expressions of their own (the program, its functions, the
    sides of its choices); `choices` are the `i` expressions that choose between pieces of code;
    `trees` are the left sides of environments, which hold the functions; `callers` are the pieces
    that run a piece.
    """

    root: Value
    code: dict[int, Value] = field(default_factory=dict)
    choices: set[int] = field(default_factory=set)
    trees: dict[int, Value] = field(default_factory=dict)
    callers: dict[int, set[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._environments: dict[int, Known] = {}
        self._results: dict[int, Known] = {}
        self._changed = False
        self._at = id(self.root)
        self.follow(self.root, None)

    def follow(self, piece: Value, environment: Known) -> None:
        """Follow a piece as code in this environment, and all code that it runs."""
        self._call(CodePiece(piece), environment)
        while self._changed:
            self._changed = False
            for key in list(self.code):
                self._follow_once(key)

    def _follow_once(self, key: int) -> None:
        before, self._at = self._at, key
        result = self._evaluate(CodePiece(self.code[key]), self._environments[key])
        self._at = before
        self._add(self._results, key, result)

    def _add(self, table: dict[int, Known], key: int, known: Known) -> None:
        """Combine what is known of a piece in this table with more, and note a change."""
        if key in table:
            known = join(table[key], known)
            if known == table[key]:
                return
        table[key] = known
        self._changed = True

    def _call(self, code: Known, environment: Known) -> Known:
        """The knowledge of this code's result; None while the code is being followed itself."""
        match code:
            case CodePiece(tuple() as value):
                key = id(value)
                self.callers.setdefault(key, set()).add(self._at)
                new = key not in self.code
                self.code[key] = value
                self._add(self._environments, key, environment)
                if new:
                    self._follow_once(key)
                return self._results.get(key)
            case AnyOf(pieces):
                return reduce(join, [self._call(piece, environment) for piece in pieces])
            case None:
                return None
            case _:
                return self._evaluate(code, environment)

    def _evaluate(self, code: Known, environment: Known) -> Known:
        sides = split(code)
        if sides is None:
            if isinstance(code, CodePiece) and isinstance(code.value, bytes):
                return path(code.value, environment)
            return self._call(code, environment)
        head, operands = sides
        if not (isinstance(head, CodePiece) and isinstance(head.value, bytes)):
            return None
        if head.value == QUOTE:
            return operands
        given = []
        while (sides := split(operands)) is not None:
            given.append(sides[0])
            operands = sides[1]
        values = [self._evaluate(operand, environment) for operand in given]
        match head.value, values:
            case (op, [program, inner]) if op == APPLY:
                self._chosen(given[0])
                tree = split(inner)
                if tree is not None and isinstance(tree[0], CodePiece):
                    functions = tree[0].value
                    if isinstance(functions, tuple):
                        self.trees[id(functions)] = functions
                return self._call(program, inner)
            case (op, [_, first, second]) if op == IF:
                return join(first, second)
            case (b"\x04", [left, right]):
                return pair(left, right)
            case (b"\x05", [value]):
                whole = split(value)
                return whole[0] if whole else None
            case (b"\x06", [value]):
                whole = split(value)
                return whole[1] if whole else None
            case _:
                return None

    def _chosen(self, code: Known) -> None:
        """Note the choice whose result is run."""
        if isinstance(code, CodePiece) and isinstance(code.value, tuple) and code.value[0] == IF:
            self.choices.add(id(code.value))


def path(atom: bytes, environment: Known) -> Known:
    """The knowledge of the value at a path, whose bits are read from the lowest."""
    steps = int.from_bytes(atom, "big")
    if not steps:
        return CodePiece(NIL)
    while steps > 1:
        sides = split(environment)
        if sides is None:
            return None
        environment = sides[steps & 1]
        steps >>= 1
    return environment
