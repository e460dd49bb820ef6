"""Law: no evidence changes the verdict on a move that is legal.

Without rules, nobody can say of every move whether it is legal: a fault may have a proof, and then
`()` is no proof of it. So of two pieces of evidence this claims that a move that is legal with the
one leads to the same record with the other. Whatever its mover commits to, one of two records is
another, and slashes. Where evidence slashes a move that other evidence does not, it is undecided;
the law `honest moves hold` says it of the moves of honest play.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channelsim.channel.findings.finding import NOBODY_KNOWS, THEFT
from channelsim.channel.prove.arguments import part
from channelsim.channel.prove.executor import Ending
from channelsim.channel.prove.guards import ASSUMED, unguarded
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.judged import (
    Fails,
    Leads,
    Slashes,
    is_legal,
    judged,
    judged_really,
    other_record,
)
from channelsim.channel.prove.laws import BOTH, VERDICTS, Subject
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.reruns import OTHER, Run, with_other_evidence
from channelsim.channel.prove.symbols import Condition, Undecided
from channelsim.clsp.values import Value, serialize

DECIDES = (
    "some evidence slashes a move that is valid with other evidence; whether the move is legal,"
    " rules can say, or honest play (the law 'honest moves hold')"
)
CONDITIONS = (
    "some evidence gives a move extra conditions that no known key protects; whether the move is"
    " legal, rules can say, or honest play (the law 'honest moves hold')"
)


@dataclass(frozen=True)
class SameForAllEvidence:
    """A move that is legal with two pieces of evidence leads to the same record with both."""

    subject: Subject

    name = "legal moves are safe"
    severity = THEFT
    reach = NOBODY_KNOWS
    verdicts = VERDICTS
    needs = BOTH

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words."""
        legal = "a move is legal that the program takes with some evidence"
        return (legal, ASSUMED, *self.subject.assumes)

    def sides(self) -> tuple[Run, ...]:
        """The program with one piece of evidence, and where that is legal with another."""
        one = self.subject.run()
        other = self.subject.run("other evidence", with_other_evidence, one, is_legal)
        return one, other

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments, and another piece of evidence."""
        inputs = self.subject.inputs(domain, size, variables)
        return inputs.with_more([inputs.any_value("other evidence")])

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where both are legal and lead to different records."""
        first, second = (judged(path, ending) for ending in endings)
        if not isinstance(first, Leads):
            return False
        match second:
            case Fails():
                return False
            case Slashes():
                raise Undecided(DECIDES)
        if path.branch(other_record(path, first, second)):
            return True
        if unguarded(path, second.conditions):
            raise Undecided(CONDITIONS)
        return False

    def is_broken(self, environment: Value) -> bool:
        """True if both real runs are legal and lead to different records."""
        one, other = (judged_really(side.real(environment)) for side in self.sides())
        if not self.subject.is_known(environment):
            return False
        if not isinstance(one, Leads) or not isinstance(other, Leads):
            return False
        return one.record != other.record

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens, and the other evidence."""
        return (
            "a legal move leads to two records, by the evidence: its mover loses everything, to"
            " whichever it commits",
            f"other evidence: {serialize(part(environment, OTHER)).hex()} (CLVM)",
        )


class LegalMovesAreSafe:
    """Runs the program with two pieces of evidence."""

    name = "legal moves are safe"

    def claim(self, subject: Subject) -> SameForAllEvidence:
        """The claim about a validator."""
        return SameForAllEvidence(subject)


LAW = LegalMovesAreSafe()
