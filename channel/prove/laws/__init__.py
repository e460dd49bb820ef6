"""Laws as theorems about one compiled program, each in its own file of this package.

Every module here has a `LAW`, with the name that the law has in the fuzzer's reports where it has
one. A law makes the claim that is proved of a validator, or says why it has nothing to say there.
It imports the rest of `prove`, which never imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol, runtime_checkable

import z3

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Reach
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import AMOUNT, STATE, coin_field, part, replaced
from channelsim.channel.prove.claims import Claim
from channelsim.channel.prove.honest_moves import HonestMove, honest_moves
from channelsim.channel.prove.inputs import ATOM, PAIRS, Domain, Inputs, Variables
from channelsim.channel.prove.judged import Judged
from channelsim.channel.prove.lemma import lemmas_of
from channelsim.channel.prove.reruns import Run, plain
from channelsim.channel.prove.result import Verdict
from channelsim.channel.prove.symbols import Number
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, atom_to_int
from channelsim.games.amounts import counted
from channelsim.games.lemma import Lemma
from channelsim.games.names import nearest_or_all

VERDICTS: tuple[Verdict, Verdict] = ("proved", "refuted")
"""What a proof of a law is called, and a counterexample."""

MOST_STATES = 8
"""The most states of honest play that claims are about where no form says which there are."""

ALL = "all"
"""The name of all laws together."""

BOTH = ("valid", "slash")
"""The endings without which a law about all moves says nothing."""


@dataclass(frozen=True)
class Subject:
    """A validator of a target, and the bounds of evidence: pairs inside each other, and bytes of an
    atom."""

    target: Target
    validator: str
    pairs: int = PAIRS
    atom: int = ATOM

    @property
    def name(self) -> str:
        """The name of the target."""
        return self.target.name

    @property
    def program(self) -> Program:
        """The program that the laws are about."""
        return self.target.programs[self.validator]

    @cached_property
    def states(self) -> tuple[tuple[Value, int], ...]:
        """The states that a claim is about, each with its amount, if no form says which there are:
        those of honest play. Empty where there is a form, or no honest play."""
        if self.target.rules is not None:
            return ()
        states = {(move.state, move.amount): None for move in self.honest}
        return tuple(states)[:MOST_STATES]

    @property
    def assumes(self) -> tuple[str, ...]:
        """What claims about all moves assume of the state."""
        if not self.states:
            return ()
        return (f"in {counted(len(self.states), 'state')} of the file of honest play only",)

    def inputs(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments with a move of this size that the referee takes; none with a longer one."""
        inputs = domain.environment(size, variables)
        if domain.state is None and self.states:
            amount: Number = part(inputs.environment, coin_field(AMOUNT))
            choices = [(state, (amount.term == held,)) for state, held in self.states]
            state = inputs.choice("honest state", choices)
            amounts = z3.Or(*[amount.term == held for _, held in self.states])
            conditions = (*inputs.conditions, amounts)
            inputs = inputs.instead(replaced(inputs.environment, STATE, state), conditions)
        return inputs.with_more([], [size <= domain.longest])

    def is_known(self, environment: Value) -> bool:
        """True if the claims are about the state among the arguments, with this amount."""
        amount = atom_to_int(part(environment, coin_field(AMOUNT)))
        return not self.states or (part(environment, STATE), amount) in self.states

    @property
    def lemmas(self) -> tuple[Lemma, ...]:
        """The lemmas about the rules of the target."""
        return lemmas_of(self.target.rules)

    def run(
        self,
        name: str = "",
        change: Callable[[Any], Any] = plain,
        after: Run | None = None,
        wanted: Callable[[Judged], bool] = lambda ended: True,
    ) -> Run:
        """A run of the program; `name` says what is special about it."""
        label = f"{self.name}, {name}" if name else self.name
        return Run(label, self.program, change, after, wanted, lemmas=self.lemmas)

    @cached_property
    def honest(self) -> tuple[HonestMove, ...]:
        """Moves of honest play."""
        return honest_moves(self.target, self.validator)


@runtime_checkable
class LawClaim(Claim, Protocol):
    """The claim of a law: what a finding of it says."""

    @property
    def severity(self) -> str:
        """How bad it is where the law is broken."""

    @property
    def reach(self) -> Reach:
        """The way to a place where it is broken, as far as the claim says it."""

    def explained(self, environment: Value) -> tuple[str, ...]:
        """The finding's text, and lines with the inputs that the arguments do not have."""


class Law(Protocol):
    """One law, with its name."""

    name: str

    def claim(self, subject: Subject) -> LawClaim | str:
        """The claim about a validator, or why there is nothing to claim."""
        ...


@cache
def laws() -> tuple[Law, ...]:
    """All laws.

    >>> "one encoding" in [law.name for law in laws()]
    True
    """
    return tuple(import_module(f"{__name__}.{item.name}").LAW for item in iter_modules(__path__))


def law_claims(subject: Subject, names: Iterable[str] = ()) -> list[LawClaim]:
    """The claims about a validator of the laws with these names, of all without any.

    A law with nothing to say there is left out. Raises `UsageError` for a name of no law.
    """
    claims = (law.claim(subject) for law in named(names))
    return [claim for claim in claims if not isinstance(claim, str)]


def named(names: Iterable[str]) -> tuple[Law, ...]:
    """The laws with these names, all without any or for `all`; `-` may stand for a space.

    Raises `UsageError`.
    """
    known = {law.name: law for law in laws()}
    asked = dict.fromkeys(name.replace("-", " ") for name in names)
    if ALL in asked or not asked:
        return laws()
    for name in asked:
        if name not in known:
            raise UsageError(f"no law {name!r}{nearest_or_all(name, (*known, ALL))}")
    return tuple(known[name] for name in asked)
