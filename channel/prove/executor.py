"""Run a compiled program on symbolic arguments, along one path.

The program itself is concrete: code that depends on an input is undecided. Of a choice between two
pieces of code, `(a (i C X Y) env)`, both are tried without a fork first: where both give atoms, the
result is one atom, and the path stays one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from channelsim.channel.prove.lemma import applied
from channelsim.channel.prove.lemma_checks import Used, uses
from channelsim.channel.prove.models import table
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.places import place_of
from channelsim.channel.prove.symbols import (
    Bytes,
    Hidden,
    Lazy,
    Number,
    Raises,
    Symbolic,
    Truth,
    Undecided,
    merge,
    width,
)
from channelsim.clsp.operators import (
    APPLY,
    CODES,
    COMMON,
    IF,
    NAMES,
    QUOTE,
    OperatorError,
    TooLong,
    operator,
)
from channelsim.clsp.programs import Program, symbols
from channelsim.clsp.run import Outcome, ProgramRaised, run
from channelsim.clsp.values import NIL, Value, atom_to_int
from channelsim.games.lemma import Lemma

STEP = 3000
"""More than an operation costs, without what it costs by the bytes of its operands."""

STEEP = 5_000_000
"""More than an operation of elliptic curves costs, for each operand and once more."""

ARITHMETIC = frozenset(
    CODES[name]
    for name in ("+", "-", "*", "/", "divmod", "%", ">", "ash", "lsh", "logand", "logior", "logxor")
)
"""The operators that take bytes for numbers."""

SHA256 = CODES["sha256"]

ATTEMPTS = 3
"""The times that two sides of a choice are tried without a fork, unless it succeeds."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The program returns a value, and costs at most this much: `()` slashes."""

    value: Symbolic
    cost: int = 0


@dataclass(frozen=True, slots=True)
class RaisedHere:
    """The program raises."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing can be said of the path; `node` is the part that is to blame, if one is."""

    reason: str
    node: Any = NIL


Ending: TypeAlias = Returned | RaisedHere | Unknown
"""Every way in which a path of a program can end."""


@dataclass(frozen=True)
class SymbolicProgram:
    """A program to run on symbolic arguments; it remembers which choices need a fork.

    It is the side (`claims.Side`) of a claim that runs on the arguments as they are.
    """

    name: str
    program: Program
    lemmas: tuple[Lemma, ...] = ()
    forks: Counter[int] = field(init=False, default_factory=Counter)

    @cached_property
    def value(self) -> Any:
        """The program's value; the same one each time, so that expressions keep their identity."""
        return self._value_and_uses[0]

    @cached_property
    def uses(self) -> Mapping[int, tuple[Used, ...]]:
        """The functions that lemmas are about, by the identity of their code."""
        return self._value_and_uses[1]

    @cached_property
    def _value_and_uses(self) -> tuple[Any, Mapping[int, tuple[Used, ...]]]:
        names = frozenset(symbols(self.program).items())
        return _value_and_uses(self.program, names, self.lemmas)

    def run(self, path: Path, environment: Symbolic) -> Ending:
        """Run along a path, of which it makes `cost` that of this run."""
        execution = _Run(self, path)
        path.cost = 0
        try:
            value = execution.evaluate(self.value, environment)
            return Returned(value, path.cost)
        except Raises:
            return RaisedHere()
        except Undecided as undecided:
            return Unknown(undecided.reason, execution.blamed)
        except RecursionError:
            return Unknown("calls that are nested too deep")

    def real(self, environment: Value) -> Outcome:
        """Run for real."""
        return run(self.program, environment)

    def place(self, node: Any) -> str:
        """An expression of the program with its function, as text."""
        return place_of(self.program, self.value, node) if node != NIL else ""

    def constants(self) -> Iterator[int]:
        """The atoms of the program as numbers."""
        waiting = [self.value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, tuple):
                waiting += part
            else:
                yield atom_to_int(part)


@lru_cache(maxsize=8)
def _value_and_uses(
    program: Program, names: frozenset[tuple[str, str]], lemmas: tuple[Lemma, ...]
) -> tuple[Any, Mapping[int, tuple[Used, ...]]]:
    """A program's value, and the functions that lemmas are about, which are parts of it.

    `names` are those of its functions: equal programs may have others.
    """
    value, by_body = program.value, dict[int, tuple[Used, ...]]()
    for lemma in lemmas:
        for use in uses(lemma, program, value):
            by_body[id(use.body)] = (*by_body.get(id(use.body), ()), use)
    return value, by_body


class _Run:
    def __init__(self, program: SymbolicProgram, path: Path) -> None:
        self._forks = program.forks
        self._uses = program.uses
        self._path = path
        self._models = table.by_code()
        self.blamed: Value = NIL

    def evaluate(self, node: Symbolic, environment: Symbolic) -> Symbolic:
        """The value of code. Raises `Raises` and `Undecided`."""
        while True:
            self._path.spend(STEP)
            for use in self._uses.get(id(node), ()):
                result = self._by_lemma(use, environment)
                if result is not None:
                    return result
            if not isinstance(node, tuple):
                return self._at(node, environment)
            code, operands = node
            if not isinstance(code, bytes):
                raise Undecided("code that is not an operator")
            if code == QUOTE:
                return operands
            if code != APPLY:
                return self._call(node, code, operands, environment)
            given = _items(operands)
            if len(given) != 2:
                raise Raises
            choice = given[0]
            if isinstance(choice, tuple) and choice[0] == IF and len(_items(choice[1])) == 3:
                following = self._choice(choice, given[1], environment)
                if isinstance(following, _Merged):
                    return following.value
                node, environment = following
            else:
                node = self.evaluate(choice, environment)
                environment = self.evaluate(given[1], environment)

    def _by_lemma(self, use: Used, environment: Symbolic) -> Symbolic | None:
        """The unknown result of a lemma's function; None where the lemma does not apply."""
        if not isinstance(environment, tuple) or environment[0] is not use.tree:
            return None
        values = []
        rest = environment[1]
        for _ in use.lemma.arguments:
            if not isinstance(rest, tuple):
                return None
            values.append(rest[0])
            rest = rest[1]
        result = applied(use.lemma, self._path, values)
        if result is not None:
            if use.false:
                raise Undecided(f"a lemma does not hold: {use.text}")
            self._path.spend(use.lemma.cost)
        return result

    def _choice(
        self, choice: Any, rest: Symbolic, environment: Symbolic
    ) -> tuple[Symbolic, Symbolic] | _Merged:
        """The code and environment of a choice between two pieces of code, or its merged value."""
        path = self._path
        test, *sides = [self.evaluate(item, environment) for item in _items(choice[1])]
        inner = self.evaluate(rest, environment)
        try:
            condition = path.truth(test)
        except Undecided:
            self._blame(choice)
            raise
        known = path.known(condition)
        if known is None:

            def attempt() -> _Merged | None:
                return self._merged(condition, sides, inner)

            merged = path.settle(attempt, worth=self._forks[id(choice)] < ATTEMPTS)
            self._forks[id(choice)] = 0 if merged is not None else self._forks[id(choice)] + 1
            if merged is not None:
                return merged
            known = path.branch(condition)
        return sides[0 if known else 1], inner

    def _merged(
        self, condition: Any, sides: list[Symbolic], environment: Symbolic
    ) -> _Merged | None:
        values: list[Symbolic] = []
        blamed = self.blamed
        for side, code in zip((True, False), sides, strict=True):

            def run(code: Symbolic = code) -> Symbolic:
                return self.evaluate(code, environment)

            value = self._path.speculate(condition, side, run)
            self.blamed = blamed
            if value is None or isinstance(value, tuple):
                return None
            values.append(value)
        value = merge(condition, *values)
        return None if value is None else _Merged(value)

    def _call(self, node: Any, code: bytes, operands: Symbolic, environment: Symbolic) -> Symbolic:
        given = [self.evaluate(item, environment) for item in _items(operands)]
        try:
            return self._applied(code, given)
        except Undecided:
            self._blame(node)
            raise

    def _blame(self, node: Value) -> None:
        if self.blamed == NIL:
            self.blamed = node

    def _applied(self, code: bytes, given: list[Symbolic]) -> Symbolic:
        """The value of an operator. Raises `Raises` and `Undecided`."""
        if code not in COMMON:
            return self._without_model(code, given)
        known = COMMON[code]
        if not known.least <= len(given) <= known.most:
            raise Raises
        if code == SHA256:
            constants = [value for value in given if isinstance(value, bytes)]
            if len(constants) == len(given):
                self._path.hashed.append(b"".join(constants))
        model = self._models.get(code)
        if all(isinstance(value, bytes) for value in given) or model is None:
            result = self._computed(code, given)
        else:
            result = model(self._path, *given)
        if code in ARITHMETIC:
            self._path.note_numbers(given)
        size = sum(map(_size, given)) + _size(result)
        self._path.spend(STEP + 30 * size + size * size // 100)
        return result

    def _without_model(self, code: bytes, given: list[Symbolic]) -> Symbolic:
        name = NAMES.get(code, f"0x{code.hex()}")
        values = [self._path.shape(value) for value in given]
        if not all(_is_known(value) for value in values):
            raise Undecided(f"no model of the operator {name}")
        self._path.spend(STEEP * (len(given) + 1))
        return self._computed(code, values)

    def _computed(self, code: bytes, given: list[Symbolic]) -> Symbolic:
        """The value of an operator on known operands."""
        name = NAMES.get(code, f"0x{code.hex()}")
        if not all(_is_known(value) for value in given):
            raise Undecided(f"no model of the operator {name}")
        try:
            return operator(code).call(*given)
        except OperatorError:
            raise Raises from None
        except (TooLong, ProgramRaised) as error:
            raise Undecided(f"{name}: {error}") from None

    def _at(self, node: Symbolic, environment: Symbolic) -> Symbolic:
        """The part of the environment at a path."""
        if not isinstance(node, bytes):
            raise Undecided("code that depends on an input")
        steps = int.from_bytes(node, "big")
        if not steps:
            return NIL
        value = environment
        while steps > 1:
            value = self._path.shape(value)
            if not isinstance(value, tuple):
                raise Raises
            value = value[steps & 1]
            steps >>= 1
        return value


@dataclass(frozen=True, slots=True)
class _Merged:
    value: Symbolic


def _items(operands: Symbolic) -> list[Symbolic]:
    """The operands of an expression. Raises `Undecided` for no proper list."""
    items = []
    while isinstance(operands, tuple):
        item, operands = operands
        items.append(item)
    if operands != NIL:
        raise Undecided("operands that are no proper list")
    return items


def _size(value: Symbolic) -> int:
    """The most bytes of an atom."""
    match value:
        case bytes():
            return len(value)
        case Bytes():
            return value.size
        case Number():
            return width(value.least, value.most) // 8 + 1
        case Truth():
            return 1
        case Lazy(long=long):
            return 64 if long is None else long.most
        case _:
            return 0


def _is_known(value: Symbolic) -> bool:
    """True if no part of a value is a symbol."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += part
        elif isinstance(part, Number | Bytes | Truth | Lazy | Hidden):
            return False
    return True
