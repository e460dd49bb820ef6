"""Law: no run of the program costs more than a block holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channelsim.channel.findings.finding import NOBODY_KNOWS, THEFT
from channelsim.channel.prove.executor import Ending, SymbolicProgram
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.laws import BOTH, VERDICTS, Subject
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Condition
from channelsim.clsp.run import CostExceeded
from channelsim.clsp.values import Value


@dataclass(frozen=True)
class WithinTheLimit:
    """Every path ends below the cost limit; others are undecided, or cut off for real."""

    subject: Subject

    name = "cost"
    severity = THEFT
    reach = NOBODY_KNOWS
    verdicts = VERDICTS
    needs = BOTH

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words."""
        alone = (
            "the cost is that of the program alone: in a slash, that of the referee comes on top"
        )
        return (alone, *self.subject.assumes)

    def sides(self) -> tuple[SymbolicProgram]:
        """The program."""
        return (SymbolicProgram(self.subject.name, self.subject.program, self.subject.lemmas),)

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of the validator."""
        return self.subject.inputs(domain, size, variables)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """False: what might exceed the limit has no ending."""
        return False

    def is_broken(self, environment: Value) -> bool:
        """True if a real run is cut off."""
        return isinstance(self.sides()[0].real(environment), CostExceeded)

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens."""
        return ("judging this move costs more than a block holds: it cannot be slashed",)


class Cost:
    """Bounds the cost of each path from above."""

    name = "cost"

    def claim(self, subject: Subject) -> WithinTheLimit:
        """The claim about a validator."""
        return WithinTheLimit(subject)


LAW = Cost()
