"""Claims about programs, and the sides that a claim is about.

A claim runs its sides on the same inputs, one after the other along one path, and says where their
endings break it. "Two programs are equal" is one; that a program obeys its rules, and each law
about a single program, are others. Whatever the claim, the prover (`comparison`, `proof`) runs
every path for real, and shows a counterexample only if real runs break the claim on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from channelsim.channel.prove.concrete_runs import differ
from channelsim.channel.prove.equality import difference
from channelsim.channel.prove.executor import Ending, SymbolicProgram
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.lemma_checks import Used
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.result import Verdict
from channelsim.channel.prove.symbols import Condition, Symbolic, Undecided
from channelsim.clsp.programs import Program
from channelsim.clsp.run import Outcome
from channelsim.clsp.values import Value
from channelsim.games.lemma import Lemma


class Side(Protocol):
    """A function of a validator's arguments that runs on symbols, and for real.

    Both must agree: the prover compares the two on an input of each path.
    """

    @property
    def name(self) -> str:
        """The name that is printed, and that no other side of the claim has."""

    def run(self, path: Path, environment: Symbolic) -> Ending:
        """Run along one path. Raises only `Impossible`, and what ends the whole proof."""

    def real(self, environment: Value) -> Outcome:
        """Run for real, on an environment of constants."""

    def place(self, node: object) -> str:
        """The place of an `Unknown` ending's `node`, as text for people; empty for none."""

    def constants(self) -> Iterable[int]:
        """Numbers that occur in it: inputs near them are worth a draw."""


class Claim(Protocol):
    """A statement about the endings of sides, on every input. It can be pickled."""

    @property
    def name(self) -> str:
        """The name of the claim: "equal", "rules", "shares"."""

    @property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        """What a proof of it is called, and what an input is called that breaks it."""

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words, besides those of all proofs."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The endings of the first side, "valid" or "slash", without which it says nothing."""

    def sides(self) -> tuple[Side, ...]:
        """New sides, the program that is judged first: a side may remember what it ran."""

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The inputs with a move of this size.

        Usually `domain.environment(size, variables)`: the arguments of a validator. A claim with
        inputs of its own (a second move, a second piece of evidence) puts these behind them, by
        `Inputs.with_more`, and its sides build the arguments of each run from all of them.
        """

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where on this path the claim is false; no ending is `Unknown`.

        It may fork the path, and assume conditions of it. Raises `Undecided`.
        """

    def is_broken(self, environment: Value) -> bool:
        """True if real runs break the claim on these constants.

        Raises `Undecided` if they cannot tell.
        """


def is_surely_broken(claim: Claim, environment: Value) -> bool:
    """True if real runs break a claim on these constants; false where they cannot tell."""
    try:
        return claim.is_broken(environment)
    except Undecided:
        return False


@runtime_checkable
class UsesLemmas(Protocol):
    """A side with functions that stand for unknown ones, by the identity of their code."""

    uses: Mapping[int, tuple[Used, ...]]


def lemmas_used(claim: Claim) -> tuple[str, ...]:
    """The lemmas that the sides of a claim use, in words."""
    sides = (side for side in claim.sides() if isinstance(side, UsesLemmas))
    uses = (use for side in sides for uses in side.uses.values() for use in uses)
    return tuple(dict.fromkeys(use.text for use in uses))


@dataclass(frozen=True)
class Equal:
    """Two programs end in the same way, and return the same value."""

    names: tuple[str, str]
    programs: tuple[Program, Program]
    lemmas: tuple[Lemma, ...] = ()

    name = "equal"
    verdicts: tuple[Verdict, Verdict] = ("equal", "different")
    assumes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("valid", "slash")

    def sides(self) -> tuple[SymbolicProgram, SymbolicProgram]:
        """Both programs."""
        left, right = self.names
        if left == right:
            left, right = f"{left}, first", f"{right}, second"
        first, second = self.programs
        return (
            SymbolicProgram(left, first, self.lemmas),
            SymbolicProgram(right, second, self.lemmas),
        )

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of both: the same ones."""
        return domain.environment(size, variables)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where they end differently."""
        left, right = endings
        return difference(path, left, right)

    def is_broken(self, environment: Value) -> bool:
        """True if they end differently in real runs."""
        left, right = (side.real(environment) for side in self.sides())
        return differ(left, right)
