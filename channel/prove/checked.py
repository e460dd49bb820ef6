"""Claims that are checked by real runs, in batches, and not proved: lemmas, hand values, showdowns.

A batch depends on its number alone, so the same inputs are checked by any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Protocol, runtime_checkable

from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.executor import Ending
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.lemma import lemmas_of
from channelsim.channel.prove.lemma_checks import (
    all_arguments,
    difference,
    drawn_arguments,
    functions_named,
    inputs_of,
    unlike,
)
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.result import CHECKED, Verdict
from channelsim.channel.prove.symbols import Condition
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, serialize
from channelsim.games.chance import Chance
from channelsim.games.lemma import Case, Check, Lemma

RUN = 100
"""The inputs in a row that are taken at each place, of more inputs than are checked."""

BATCH = 20_000
"""The inputs of a batch: a few seconds of work."""


@dataclass(frozen=True)
class Batch:
    """The result of a batch of runs: how many inputs were checked, and where one differs.

    `differs` says it in words; `counterexample` are arguments of a validator that break the claim.
    """

    inputs: int
    differs: str = ""
    counterexample: Value | None = None


@runtime_checkable
class Checked(Protocol):
    """A claim that is checked in batches of real runs."""

    @property
    def batches(self) -> int:
        """The number of batches."""

    def check(self, number: int) -> Batch:
        """Check the inputs of a batch."""


@dataclass(frozen=True)
class FunctionsAgree:
    """A function of a program does the same as one of Python, on so many inputs: all, or drawn.

    An input on which they differ makes it undecided: what the program makes of it is another
    question.
    """

    program: Program
    source: Lemma | Check
    most: int

    verdicts: tuple[Verdict, Verdict] = (CHECKED, "refuted")
    assumes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    about_moves = False

    @property
    def name(self) -> str:
        """The claim, by the lemma or the check."""
        return f"compared: {self.source.name}"

    @property
    def total(self) -> int | None:
        """The number of all inputs; None if they are drawn."""
        source = self.source
        total = inputs_of(source) if isinstance(source, Lemma) else source.total
        return None if total is None or total > self.most else total

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self.most if self.total is None else self.total

    @property
    def batches(self) -> int:
        """The number of batches."""
        return -(-self.inputs // BATCH)

    @property
    def bounds(self) -> tuple[str, ...]:
        """The inputs in words."""
        source = self.source
        what = "arguments" if isinstance(source, Lemma) else source.inputs
        which = f"all {self.inputs:,}" if self.total is not None else f"{self.inputs:,} drawn"
        return (f"`{source.function}` is compared, not proved, on {which} inputs: {what}",)

    @cached_property
    def _functions(self) -> list[tuple[bytes, bytes]]:
        found = functions_named(self.source.function, self.program, self.program.value)
        return [(serialize(body), serialize(tree)) for body, tree in found]

    def check(self, number: int) -> Batch:
        """Check the inputs of a batch."""
        if not self._functions:
            return Batch(0, f"the program has no function `{self.source.function}`")
        count, due = 0, min(BATCH, self.inputs - number * BATCH)
        for differs in islice(self._compared(number), due):
            count += 1
            if differs:
                return Batch(count, differs)
        if count < due:
            raise InvariantError(f"{self.name}: {count} inputs instead of {due}")
        return Batch(count)

    def _compared(self, number: int) -> Iterator[str]:
        """Where the functions differ, input by input."""
        source, seed = self.source, number.to_bytes(4, "big")
        if isinstance(source, Check):
            for given, expected in self._cases(source, Chance(source.name.encode() + seed), number):
                problems = (unlike(*function, given, expected) for function in self._functions)
                yield next(filter(None, problems), "")
            return
        arguments = (
            drawn_arguments(source, seed)
            if self.total is None
            else islice(all_arguments(source), number * BATCH, None)
        )
        for at, values in enumerate(arguments):
            # Drawn numbers are written in one way each: there are enough of them.
            way = at if self.total is None else None
            problems = (difference(source, *function, values, way) for function in self._functions)
            yield next(filter(None, problems), "")

    def _cases(self, check: Check, chance: Chance, number: int) -> Iterator[Case]:
        """The cases of a batch: all from a place on, or without end, at places that are drawn."""
        if check.total is None or self.total is not None:
            yield from check.cases(chance, number * BATCH)
        while check.total is not None:
            yield from islice(check.cases(chance, chance.below(check.total)), RUN)

    def sides(self) -> tuple[()]:
        """None: nothing is run on symbols."""
        return ()

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """Nothing is run on symbols."""
        raise InvariantError(f"{self.name} is checked by real runs only")

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Nothing is run on symbols."""
        raise InvariantError(f"{self.name} is checked by real runs only")

    def is_broken(self, environment: Value) -> bool:
        """False: it is about no arguments of the validator."""
        return False


def checks_of(target: Target, validator: str, inputs: int) -> Iterator[FunctionsAgree]:
    """The checks about a validator, of so many inputs at most: its lemmas, and what its game
    declares."""
    if target.rules is None:
        return
    program = target.programs[validator]
    for lemma in lemmas_of(target.rules):
        used = any(functions_named(lemma.function, program, program.value))
        if used and not lemma.solvable:
            yield FunctionsAgree(program, lemma, inputs)
    for check in target.game.checks:
        if check.validator == validator:
            yield FunctionsAgree(program, check, inputs)
