"""A move made at a place of a hand, as an author's own tests look at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from channel.lab.cases.describe import vector
from channel.lab.referee.referee_runs import Commitment, Court, Slashed
from channel.lab.sites.sites import END, Spot
from channel.lab.target.target import Target
from clsp.integers import int_to_atom
from clsp.run import Outcome, run_serialized
from clsp.values import NIL, Value, serialize
from games.contract import Slash, Valid


@dataclass(frozen=True, repr=False)
class Made:
    """A move and the share that it declares, where the rules say `verdict` of it.

    The verdict is the opponent's, with all the evidence that it holds.
    """

    target: Target
    spot: Spot
    move: bytes
    share: int
    verdict: Valid | Slash

    @property
    def validator(self) -> str:
        """Which validator judges it."""
        return self.spot.validator

    @property
    def legal(self) -> bool:
        """Whether the rules allow it."""
        return isinstance(self.verdict, Valid)

    @property
    def rule(self) -> str:
        """The id of the rule that forbids it; empty for a legal move."""
        return self.verdict.rule if isinstance(self.verdict, Slash) else ""

    def evidence(self) -> tuple[Value, ...]:
        """What the opponent may try against it: `()`, and what its own logic holds."""
        return (NIL, *self.spot.receiver.evidence(self.spot.before, self.move))

    def run(self, evidence: Value = NIL) -> Outcome:
        """Run the validator alone on it."""
        return run_serialized(
            self.target.programs[self.validator].serialized, self.arguments(evidence)
        )

    def arguments(self, evidence: Value = NIL) -> bytes:
        """The validator's environment, serialized."""
        spot = self.spot
        parts = (serialize(self.move), spot.between, serialize(int_to_atom(self.share)))
        return b"".join((spot.opening, *parts, spot.rest, serialize(evidence), END))

    def slash(self, evidence: Value = NIL) -> Slashed:
        """Slash it on the coin that the move path makes, by the target's real referee.

        A legal move declares what it leads to; an illegal one what serves a cheat.
        """
        return Court(self.target).slash(self.spot, self._coin(), evidence)

    def slashed(self) -> bool:
        """Whether any evidence that the opponent holds makes the slash pay."""
        return any(self.slash(evidence) is Slashed.PAYS for evidence in self.evidence())

    def passes(self) -> bool:
        """Whether the target's referee lets it through, to just this coin."""
        return Court(self.target).passes(self.spot, self._coin())

    def vector(self, evidence: Value = NIL) -> dict[str, Any]:
        """It as a conformance case. Raises `NotAList` for evidence that the format cannot say."""
        call = self.move, self.share, evidence
        spot, target = self.spot, self.target
        judge = target.game.validators[spot.validator].judge
        verdict = judge(spot.before.state, *call[:2], spot.amount, evidence, target.hashes)
        case = vector(target, spot, call, verdict, "made")
        made: dict[str, Any] = msgspec.to_builtins(case)
        return made

    def _coin(self) -> tuple[Value, ...]:
        court = Court(self.target)
        declared: Commitment
        if isinstance(self.verdict, Valid):
            declared = court.honest(self.verdict.next)
        else:
            declared = court.best_cheat(self.spot, self.arguments())
        return court.after(self.spot, self.move, int_to_atom(self.share), declared)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """How Hypothesis shows it: not field by field."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        what = f"forbidden by {self.rule}" if self.rule else "legal"
        share = f"declaring {self.share} of {self.spot.amount} mojos for the opponent"
        return f"<{self.validator}: 0x{self.move.hex()}, {share}: {what}>"


def ruling(target: Target, spot: Spot, move: bytes, share: int) -> Valid | Slash | None:
    """What the rules say of a move to an opponent with its own evidence; None where they raise
    at all of it."""
    judge = target.game.validators[spot.validator].judge
    legal: Valid | None = None
    for evidence in (NIL, *spot.receiver.evidence(spot.before, move)):
        verdict = judge(spot.before.state, move, share, spot.amount, evidence, target.hashes)
        if isinstance(verdict, Slash):
            return verdict
        if isinstance(verdict, Valid):
            legal = verdict
    return legal


def made(target: Target, spot: Spot, move: bytes, share: int) -> Made | None:
    """The move with its verdict; None for what can be no coin: a share or a length that the
    referee refuses, or a move at which the rules raise."""
    if len(move) > spot.before.max_move_size or not 0 <= share <= spot.amount:
        return None
    verdict = ruling(target, spot, move, share)
    return None if verdict is None else Made(target, spot, move, share, verdict)
