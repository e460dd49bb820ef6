"""The claim that a lemma holds: both functions give the same result for all of its arguments.

The solver compares them, instead of real runs on drawn arguments. It is asked of lemmas that are
declared `solvable`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import z3

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.equality import unequal
from channelsim.channel.prove.executor import Ending, Returned, SymbolicProgram
from channelsim.channel.prove.inputs import Domain, Inputs, Part, Variables
from channelsim.channel.prove.lemma import real_result
from channelsim.channel.prove.lemma_checks import Used, false_for, uses, written_size
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.result import Verdict
from channelsim.channel.prove.rules.side import followed
from channelsim.channel.prove.rules.standins.data import data_of
from channelsim.channel.prove.rules.standins.ints import less, negated, number_of
from channelsim.channel.prove.rules.twins import twins_of
from channelsim.channel.prove.rules.typed import States
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Number,
    Symbolic,
    Undecided,
    as_number,
)
from channelsim.clsp.programs import Program
from channelsim.clsp.run import Outcome, ProgramValid, Raised, run
from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    from_list,
    int_to_atom,
    serialize,
    to_list,
)
from channelsim.games.amounts import counted
from channelsim.games.forms import Atom, Form, Integer, ListOf, Pair
from channelsim.games.lemma import Lemma


@dataclass(frozen=True)
class ProgramFunction:
    """The function of a lemma in a program; its arguments are a list."""

    use: Used
    name: str = field(init=False, default="the program's function")

    @cached_property
    def _program(self) -> SymbolicProgram:
        return SymbolicProgram(self.name, Program(serialize(self.use.body)))

    @cached_property
    def _tree(self) -> Any:
        return Program(serialize(self.use.tree)).value

    def run(self, path: Path, environment: Symbolic) -> Ending:
        """Run along a path."""
        return self._program.run(path, (self._tree, environment))

    def real(self, environment: Value) -> Outcome:
        """Run for real."""
        return run(self._program.program, (self._tree, environment))

    def place(self, node: Any) -> str:
        """Nothing: the whole function is to blame."""
        return ""

    def constants(self) -> Iterator[int]:
        """The atoms of the function as numbers."""
        return self._program.constants()


@dataclass(frozen=True)
class PythonFunction:
    """The function of a lemma in Python, on stand-ins."""

    lemma: Lemma
    name: str = field(init=False, default="the rules' function")

    @cached_property
    def _twins(self) -> Any:
        return twins_of(self.lemma.python)

    def run(self, path: Path, environment: Symbolic) -> Ending:
        """Call it along a path."""
        return followed(path, lambda: self._called(path, environment))

    def _called(self, path: Path, environment: Symbolic) -> Ending:
        given: Any = environment
        arguments = []
        for form in self.lemma.arguments:
            value, given = given
            is_number = isinstance(form, Integer)
            arguments.append(number_of(path.number(value)) if is_number else data_of(value))
        result = self._twins.function(self.lemma.python)(*arguments)
        return Returned(States(self._twins).write(self.lemma.result, result))

    def real(self, environment: Value) -> Outcome:
        """Call it for real."""
        try:
            result = real_result(self.lemma, *arguments_of(self.lemma, environment))
        except Exception as error:
            return Raised(f"{type(error).__name__}: {error}")
        return ProgramValid(result, 0)

    def place(self, node: Any) -> str:
        """The file and the line."""
        return str(node) if node != NIL else ""

    def constants(self) -> Iterator[int]:
        """None."""
        return iter(())


def arguments_of(lemma: Lemma, environment: Value) -> list[int | bytes]:
    """The arguments of Python in a list of atoms."""
    atoms: list[Any] = from_list(environment)
    return [
        atom_to_int(atom) if isinstance(form, Integer) else atom
        for form, atom in zip(lemma.arguments, atoms, strict=True)
    ]


@dataclass(frozen=True)
class LemmaHolds:
    """A function of a program does the same as that of a lemma, at its cost at most.

    It has a single part; there are no arguments for a longer move. An input on which the functions
    differ makes it undecided, as the lemma makes what applies it.
    """

    program: Program
    lemma: Lemma

    verdicts: tuple[Verdict, Verdict] = ("proved", "refuted")
    assumes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    about_moves = False

    @property
    def name(self) -> str:
        """The claim, by the lemma."""
        return f"lemma: {self.lemma.name}"

    @property
    def bounds(self) -> tuple[str, ...]:
        """The arguments in words."""
        words = ", ".join(map(_in_words, self.lemma.arguments))
        return (f"arguments of `{self.lemma.function}`: every value: {words}",)

    @cached_property
    def _uses(self) -> list[Used]:
        return uses(self.lemma, self.program, self.program.value)

    def sides(self) -> tuple[ProgramFunction | PythonFunction, ...]:
        """The functions in the program, of which there is usually one, and that of Python."""
        return (*map(ProgramFunction, self._uses), PythonFunction(self.lemma))

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments as a list: numbers in the fewest bytes, and in all of their bounds."""
        inputs = domain.environment(0, variables)
        parts = [
            _argument(inputs, f"argument {number}", form)
            for number, form in enumerate(self.lemma.arguments)
        ]
        conditions = [condition for _, more in parts for condition in more]
        if size:
            conditions.append(False)
        return inputs.instead(to_list([value for value, _ in parts]), conditions)  # type: ignore[misc]

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where the functions differ, or the result is not of its form."""
        *ran, ruled = endings
        if not isinstance(ruled, Returned):
            return True
        cost = max((ending.cost for ending in ran if isinstance(ending, Returned)), default=0)
        if cost > self.lemma.cost:
            raise Undecided(f"the program's function may cost more than {self.lemma.cost:,}")
        differing = [_not_of(path, self.lemma.result, ruled.value)]
        for ending in ran:
            if not isinstance(ending, Returned):
                return True
            differing.append(unequal(path, ending.value, ruled.value))
        return either(*differing)

    def is_broken(self, environment: Value) -> bool:
        """Raise `Undecided` if real runs differ: a false lemma is no finding about the program."""
        for use in self._uses:
            text = use.false or false_for(use, arguments_of(self.lemma, environment))
            if text:
                raise Undecided(f"it is {text}")
        return False


def lemma_claims(target: Target, validator: str, lemmas: Sequence[Lemma]) -> Iterator[LemmaHolds]:
    """The claims about the solvable lemmas that a validator's program uses."""
    program = target.programs[validator]
    for lemma in lemmas:
        if lemma.solvable and uses(lemma, program, program.value):
            yield LemmaHolds(program, lemma)


def _argument(inputs: Inputs, name: str, form: Form) -> Part:
    match form:
        case Atom(size):
            return inputs.any_of_size(name, size)
        case Integer(least, most) if least == most:
            return int_to_atom(least), ()
        case Integer(least, most):
            number = inputs.number(name, least, most)
            wide, _ = inputs.any_of_size(f"{name} in all bytes", written_size(form))
            signed = as_number(wide)  # type: ignore[arg-type]
            outside = either(less(signed, _constant(least)), less(_constant(most), signed))
            return inputs.choice(f"{name}, written", [number, (wide, (negated(outside),))]), ()
    raise TypeError(f"{form!r:.80}: no lemma takes it")


def _in_words(form: Form) -> str:
    match form:
        case Atom(size):
            return counted(size, "byte")
        case Integer(least, most):
            return f"{least} to {most}"
    raise TypeError(f"{form!r:.80}: no lemma takes it")


def _not_of(path: Path, form: Form, value: Any) -> Condition:
    """Where a value is not of a form of fixed shape."""
    match form:
        case Integer(least, most):
            number = path.number(value)
            return either(less(number, _constant(least)), less(_constant(most), number))
        case Atom(size):
            text = path.bytes(value)
            return (text.size if isinstance(text, Bytes) else len(text)) != size
        case Pair(first, second):
            return either(_not_of(path, first, value[0]), _not_of(path, second, value[1]))
        case ListOf(inner, most):
            items = from_list(value)
            if len(items) != most:
                return True
            falling = [
                negated(less(path.number(low), path.number(high)))
                for low, high in pairwise(items)
                if form.ascending
            ]
            return either(*falling, *(_not_of(path, inner, item) for item in items))
    raise TypeError(f"{form!r:.80} has no fixed shape")


def _constant(number: int) -> Number:
    return as_number(int_to_atom(number))


def either(*conditions: Condition) -> Condition:
    """True where one of these is."""
    if any(condition is True for condition in conditions):
        return True
    terms = [condition for condition in conditions if condition is not False]
    return z3.Or(*terms) if terms else False
