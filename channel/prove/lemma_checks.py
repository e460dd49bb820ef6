"""Compare a program's own function with a lemma, by real runs: on every argument, or on many.

A lemma whose function is another one in some program says nothing there: what applies it is
undecided.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.metadata import version
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import Any

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.lemma import leaves, real_result
from channelsim.channel.prove.result import COMPARED
from channelsim.channel.prove.symbols import ONE
from channelsim.clsp import program_cache
from channelsim.clsp.analysis.code import Code
from channelsim.clsp.programs import Program, symbols
from channelsim.clsp.run import (
    MAX_COST,
    ProgramSlash,
    ProgramValid,
    outcome_word,
    run_serialized,
)
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.forms import Atom, ByteIn, Form, Integer, ListOf, Pair
from channelsim.games.lemma import Lemma

CHECKS = 5_000
"""The arguments that are tried where there are more of them."""

AGAIN = 50
"""The arguments that are tried again where the functions were the same before."""

ALIKE = 6
"""Numbered inputs in a row that are written alike: arguments are drawn by turns in two or three
ways, so all of these meet every way of writing."""

STORED = "lemmas"
"""The kind of stored results: the number of inputs of a comparison, a few bytes."""

OWN = ("channelsim.games", "channelsim.clsp", "channelsim.channel.prove", "channelsim.channel.lab")


@dataclass(frozen=True)
class Used:
    """A lemma about a function of a program: `body` is its code and `tree` the tree of functions
    that it is run with, both parts of the program's own value.

    It was compared on `inputs`, which are all if `exhaustive`. `false` says where they differ.
    """

    lemma: Lemma
    body: Value
    tree: Value
    inputs: int
    exhaustive: bool
    false: str

    @property
    def text(self) -> str:
        """The lemma, and how often it was compared."""
        if self.false:
            return f"{self.lemma.name}: {self.false}"
        which = f"all {self.inputs:,} inputs" if self.exhaustive else counted(self.inputs, "input")
        return (
            f"{self.lemma.name}: `{self.lemma.function}` is an unknown function on all sides"
            f"{COMPARED}{which}"
        )


def uses(lemma: Lemma, program: Program, root: Value) -> list[Used]:
    """The functions of a program, whose value is `root`, that a lemma is about."""
    return [
        Used(lemma, body, tree, *compared(lemma, serialize(body), serialize(tree)))
        for body, tree in functions_named(lemma.function, program, root)
    ]


def functions_named(name: str, program: Program, root: Value) -> Iterator[tuple[Value, Value]]:
    """The functions of this name in a program, whose value is `root`: the code of each, and the
    tree of functions that it is run with."""
    code = Code(root, symbols(program))
    for function in code.functions:
        if function.name == name:
            for tree in code.trees:
                if _holds(tree, function.body):
                    yield function.body, tree


def _holds(tree: Value, body: Value) -> bool:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if part is body:
            return True
        if isinstance(part, tuple):
            waiting += part
    return False


@lru_cache(maxsize=64)
def compared(lemma: Lemma, body: bytes, tree: bytes) -> tuple[int, bool, str]:
    """The number of inputs that were compared, if these are all, and where the functions differ.

    That they are equal is stored in the user's cache; then only a few inputs are run again.
    """
    total = inputs_of(lemma)
    key = _key(lemma, body, tree)
    stored = program_cache.read_bytes(key, STORED) if key else None
    drawn = all_arguments(lemma) if total <= CHECKS else drawn_arguments(lemma)
    count = 0
    for count, values in enumerate(islice(drawn, CHECKS if stored is None else AGAIN), 1):
        if false := difference(lemma, body, tree, values):
            return count, total <= CHECKS, false
    if stored is not None:
        count = int(stored)
    elif key:
        program_cache.write_bytes(key, str(count).encode(), STORED)
    return count, total <= CHECKS, ""


def _key(lemma: Lemma, body: bytes, tree: bytes) -> str:
    """A digest of all that a comparison depends on: both functions, that of the rules with the
    source of all that it may call, the inputs, and the versions. Empty for a lemma of others: who
    knows what it calls."""
    if not lemma.python.__module__.startswith("channelsim."):
        return ""
    parts = (
        *(lemma.name, lemma.python.__module__, lemma.python.__qualname__),
        *(repr((lemma.arguments, lemma.result)), str(lemma.cost), str(CHECKS)),
        *(body.hex(), tree.hex(), own_sources(), sys.version, version("chia_rs")),
    )
    return sha256("\0".join(parts).encode()).hexdigest()


@cache
def own_sources() -> str:
    """A digest in hex of our own source, as far as proofs and the rules of our games rest on it."""
    digest = sha256()
    for name in OWN:
        (folder,) = sys.modules[name].__path__
        for file in sorted(Path(folder).rglob("*.py")):
            digest.update(b"%s\0%s\0" % (file.name.encode(), file.read_bytes()))
    return digest.hexdigest()


def inputs_of(lemma: Lemma) -> int:
    """The number of all inputs."""
    return prod(map(_count, lemma.arguments))


def false_for(use: Used, values: Sequence[int | bytes]) -> str:
    """Where the functions differ for these arguments, in words; "" where they do not."""
    return difference(use.lemma, serialize(use.body), serialize(use.tree), values)


def difference(
    lemma: Lemma, body: bytes, tree: bytes, values: Any, number: int | None = None
) -> str:
    """The same for a program's function, serialized, with its tree of functions.

    The integers are written in every way. Of many inputs, one with a `number` is written in one way
    only, and those with the next numbers in the other ways.
    """
    expected = real_result(lemma, *values)
    try:
        for _ in leaves(lemma.result, expected):
            pass
    except ValueError as error:
        return f"{lemma.python.__name__}{values}: {error}"
    if lemma.turn is not None:
        other = lemma.turn.turned(values, lambda flag: 1 - flag)
        if {expected, real_result(lemma, *other)} != {NIL, ONE}:
            return f"{lemma.python.__name__}{values}: the other side gets the same answer"
    ways = list(product(*(_written(form, value) for form, value in _paired(lemma, values))))
    for given in ways if number is None else [ways[number // ALIKE % len(ways)]]:
        if problem := unlike(body, tree, given, expected, lemma.cost):
            return problem
    return ""


def unlike(
    body: bytes, tree: bytes, given: Sequence[Value], expected: Value, cost: int = MAX_COST
) -> str:
    """The difference between a function, with its tree of functions, and the expected result; empty
    if there is none."""
    # One run an input: the bytes of the tree are taken as they are.
    environment = b"\xff" + tree + b"".join(b"\xff" + serialize(part) for part in given) + b"\x80"
    outcome = run_serialized(body, environment)
    if isinstance(outcome, ProgramSlash):
        outcome = ProgramValid(NIL, outcome.cost)
    if isinstance(outcome, ProgramValid) and outcome.value == expected and outcome.cost <= cost:
        return ""
    shown = f"false for {', '.join(map(_shown, given))}"
    if not isinstance(outcome, ProgramValid):
        return f"{shown}: the program's function ends by {outcome_word(outcome)}"
    if outcome.value != expected:
        return f"{shown}: the functions differ"
    return f"{shown}: the program's function costs {outcome.cost:,}"


def _paired(lemma: Lemma, values: Any) -> Iterator[tuple[Form, Any]]:
    return zip(lemma.arguments, values, strict=True)


def _shown(value: Value) -> str:
    return f"0x{(value if isinstance(value, bytes) else serialize(value)).hex()}"


def _written(form: Form, value: Any) -> list[Value]:
    """The values by which a program may have an argument: numbers in the fewest bytes, and in all
    the bytes of their bounds."""
    match form:
        case ByteIn():
            return [bytes((value,))]
        case Pair(first, second):
            both = zip(*_alike(_written(first, value[0]), _written(second, value[1])), strict=True)
            return [(left, right) for left, right in both]
        case ListOf(inner):
            lists = zip(*_alike(*(_written(inner, item) for item in value)), strict=True)
            return [to_list(list(items)) for items in lists]
        case Atom():
            return [value]
    assert isinstance(form, Integer)
    size = written_size(form)
    return list(dict.fromkeys((int_to_atom(value), value.to_bytes(size, "big", signed=True))))


def _alike(*written: list[Value]) -> list[list[Value]]:
    """Lists of two values each: all parts of a value are in the fewest bytes, or none is."""
    return [[values[0], values[-1]] for values in written]


def written_size(form: Integer) -> int:
    """The bytes of all bounds of a number."""
    return max(len(int_to_atom(form.least)), len(int_to_atom(form.most)))


def _count(form: Form) -> int:
    match form:
        case Integer(least, most):
            return most - least + 1
        case Atom(size):
            return 1 << 8 * size
        case ByteIn(values):
            return len(values)
        case Pair(first, second):
            return _count(first) * _count(second)
        case ListOf(inner, most):
            return int(_count(inner) ** most)
    raise TypeError(f"{form!r:.80}: no lemma takes it")


def all_arguments(lemma: Lemma) -> Iterator[tuple[Any, ...]]:
    """All arguments, in order."""
    yield from product(*map(_values, lemma.arguments))


def _values(form: Form) -> Iterator[Any]:
    match form:
        case ByteIn(values):
            yield from sorted(values)
        case Pair(first, second):
            yield from product(_values(first), _values(second))
        case ListOf(inner, most):
            yield from product(*([*_values(inner)] for _ in range(most)))
        case Integer(least, most):
            yield from range(least, most + 1)
        case Atom(size):
            yield from (number.to_bytes(size, "big") for number in range(1 << 8 * size))


def drawn_arguments(lemma: Lemma, seed: bytes = b"") -> Iterator[tuple[Any, ...]]:
    """Drawn arguments without end, if the lemma has a `draw` by turns by it and by their forms.

    By their forms, every second number is at a bound or small, and the bytes of every second one
    are a few only.
    """
    name = lemma.name.encode() + seed
    chance, own = FastChance(name), Chance(name)
    while True:
        if lemma.draw is not None:
            yield lemma.draw(own)
        values = tuple(_draw(chance, form) for form in lemma.arguments)
        yield values
        if any(isinstance(value, bytes) for value in values):
            yield _with_repeats(chance, values)


def _draw(chance: FastChance, form: Form) -> Any:
    match form:
        case ByteIn(values):
            return chance.pick(sorted(values))
        case Pair(first, second):
            return _draw(chance, first), _draw(chance, second)
        case ListOf(inner, most):
            return tuple(_draw(chance, inner) for _ in range(most))
        case Integer(least, most):
            if chance.random() < 0.5:
                near = chance.pick((least, most, 0)) + chance.between(-3, 3)
                scaled = chance.between(least, most) >> chance.below(most.bit_length() + 1)
                return min(max(chance.pick((near, scaled)), least), most)
            return chance.between(least, most)
        case Atom(size):
            return chance.bytes(size)
    raise TypeError(f"{form!r:.80}: no lemma takes it")


def _with_repeats(chance: FastChance, values: tuple[int | bytes, ...]) -> tuple[int | bytes, ...]:
    """The same with bytes that are a few ones, over and over, in all of them."""
    few = chance.bytes(chance.between(1, 6))
    return tuple(
        bytes(chance.pick(few) for _ in value) if isinstance(value, bytes) else value
        for value in values
    )
