"""Law: no evidence slashes a move of honest play, and some evidence does not raise on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from channelsim.channel.findings.finding import PLAYED, THEFT
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.prove.arguments import MORE, part, replaced
from channelsim.channel.prove.executor import Ending
from channelsim.channel.prove.guards import ASSUMED, unguarded
from channelsim.channel.prove.honest_moves import HonestMove, honest_inputs, source
from channelsim.channel.prove.inputs import Domain, Inputs, Variables
from channelsim.channel.prove.judged import (
    Leads,
    Slashes,
    is_legal,
    judged,
    judged_really,
    other_record,
)
from channelsim.channel.prove.laws import VERDICTS, Subject
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.reruns import OTHER, Run, plain, with_other_evidence
from channelsim.channel.prove.symbols import Condition
from channelsim.clsp.values import NIL, Value, serialize


@dataclass(frozen=True)
class HonestMovesAreLegal:
    """A move of honest play leads to the same record with all evidence that does not raise."""

    subject: Subject
    moves: tuple[HonestMove, ...]

    name = "honest moves hold"
    severity = THEFT
    reach = PLAYED
    verdicts = VERDICTS
    needs = ("valid",)

    @property
    def assumes(self) -> tuple[str, ...]:
        """Each assumption in words."""
        return (f"about the {source(self.subject.target, len(self.moves))} only", ASSUMED)

    def sides(self) -> tuple[Run, ...]:
        """The program with the evidence of play, and where that is legal with any other."""
        honest = self.subject.run()
        other = self.subject.run("other evidence", with_other_evidence, honest, is_legal)
        return honest, other

    def environment(self, domain: Domain, size: int, variables: Variables) -> Inputs:
        """The arguments of each honest move of this size, and any evidence behind them."""
        inputs = domain.environment(size, variables)
        evidence: Any = inputs.any_value("evidence")

        def call(move: HonestMove, number: int) -> tuple[Any, tuple[Condition, ...]]:
            return replaced(move.arguments, MORE, (evidence, NIL)), ()

        return honest_inputs(inputs, (move for move in self.moves if move.size == size), call)

    def broken(self, path: Path, inputs: Inputs, endings: Sequence[Ending]) -> Condition:
        """Where the other evidence slashes."""
        first, second = (judged(path, ending) for ending in endings)
        if not isinstance(first, Leads):
            return True
        if not isinstance(second, Leads):
            return isinstance(second, Slashes)
        if path.branch(other_record(path, first, second)):
            return True
        return unguarded(path, second.conditions)

    def is_broken(self, environment: Value) -> bool:
        """True if a real run with the other evidence slashes an honest move."""
        if all(plain(environment) != plain(move.arguments) for move in self.moves):
            return False
        first, second = (judged_really(side.real(environment)) for side in self.sides())
        if not isinstance(first, Leads):
            return True
        if not isinstance(second, Leads):
            return isinstance(second, Slashes)
        chosen = frozenset(leaves(part(environment, OTHER)))
        path = Path(None, (), 0)
        return first.record != second.record or unguarded(path, second.conditions, chosen)

    def explained(self, environment: Value) -> tuple[str, ...]:
        """What happens, and the evidence that slashes."""
        return (
            "an honest move is slashed, or legal with none of the evidence that play holds: its"
            " mover loses everything",
            f"other evidence: {serialize(part(environment, OTHER)).hex()} (CLVM)",
        )


class HonestMovesHold:
    """Runs the program on moves of honest play with any evidence."""

    name = "honest moves hold"

    def claim(self, subject: Subject) -> HonestMovesAreLegal | str:
        """The claim about a validator."""
        moves = subject.honest
        if not moves:
            return "no honest move is known"
        return HonestMovesAreLegal(subject, moves)


LAW = HonestMovesHold()
