"""Lemmas: functions that a program and its rules compute by other means.

A proof takes such a function as an unknown one, the same on both sides; that both sides compute it
is compared separately (`channelsim prove`). A game declares them (`Game.lemmas`), and other
functions that are compared only (`Game.checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from channelsim.clsp.values import Value
from channelsim.games.chance import Chance
from channelsim.games.forms import Form


@dataclass(frozen=True)
class Turn:
    """The same question from the other side: the arguments in another `order`, of which the one at
    `flag`, 0 or 1, is the other number. Its answer, 0 or 1, is the other one."""

    order: tuple[int, ...]
    flag: int

    def turned(self, values: Sequence[Any], other: Callable[[Any], Any]) -> list[Any]:
        """The arguments from the other side; `other` makes the other number of one.

        >>> Turn((0, 2, 1), 0).turned([0, "own", "theirs"], lambda flag: 1 - flag)
        [1, 'theirs', 'own']
        """
        values = [*values]
        values[self.flag] = other(values[self.flag])
        return [values[at] for at in self.order]


@dataclass(frozen=True)
class Lemma:
    """A function of a program by its name in the source, and one of Python that does the same.

    It takes `arguments` and returns a `result` of fixed shapes: lists of one length, pairs,
    integers and atoms. It never raises, and in a program it costs at most `cost`. Where an argument
    is no value of its form, nothing is said.

    `draw` draws arguments that are worth a comparison, where those of the forms are too alike: any
    32 bytes open no lock. `near` changes some arguments so that the result is the one named, if it
    can: proofs try it to run a path for real.

    `turn` says that one of two players gets the answer that the other one does not.

    `solvable`: the prover compares the two on every argument, as a claim of its own.
    """

    name: str
    function: str
    python: Callable[..., Any]
    arguments: tuple[Form, ...]
    result: Form
    cost: int
    solvable: bool = False
    turn: Turn | None = None
    draw: Callable[[Chance], tuple[Any, ...]] | None = None
    near: Callable[[tuple[Any, ...], Any], tuple[Any, ...] | None] | None = None


Case: TypeAlias = tuple[tuple[Value, ...], Value]
"""The arguments of a function, and the result that rules expect."""


@dataclass(frozen=True)
class Check:
    """A function of a program that is compared with one of Python by real runs, and not proved.

    `cases` makes arguments as CLVM values, each with the result that rules expect: all of them from
    the one with this number on, or drawn ones without end where `total` is None. `inputs` says in
    words what they are, after their number.
    """

    name: str
    validator: str
    function: str
    cases: Callable[[Chance, int], Iterator[Case]]
    inputs: str
    total: int | None = None
