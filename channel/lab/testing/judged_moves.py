"""A move at a site with the rules' verdict on it, as an author's own tests look at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import msgspec

from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.referee.referee_runs import RefereeRunner, SlashResult
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import Outcome, run_serialized
from channelsim.clsp.values import NIL, Value, int_to_atom
from channelsim.games.amounts import counted
from channelsim.games.contract import Slash, Valid


@dataclass(frozen=True, repr=False)
class JudgedMove:
    """A move and the share that it declares, where the rules say `verdict` of it.

    The verdict is the opponent's, with all the evidence that it holds.
    """

    target: Target
    site: Site
    move: bytes
    share: int
    verdict: Valid | Slash

    @property
    def validator(self) -> str:
        """The name of the validator that judges it."""
        return self.site.validator

    @property
    def legal(self) -> bool:
        """True if the rules allow it."""
        return isinstance(self.verdict, Valid)

    @property
    def rule(self) -> str:
        """The id of the rule that forbids it; empty for a legal move."""
        return self.verdict.rule if isinstance(self.verdict, Slash) else ""

    def evidence(self) -> tuple[Value, ...]:
        """The evidence that the opponent may try: `()`, and what its own logic holds."""
        return self.site.evidence(self.move)

    def run(self, evidence: Value = NIL) -> Outcome:
        """Run the validator alone on it."""
        return run_serialized(
            self.target.programs[self.validator].serialized, self.arguments(evidence)
        )

    def arguments(self, evidence: Value = NIL) -> bytes:
        """The validator's environment, serialized."""
        return self.site.environment(self.move, self.share, evidence)

    def slash(self, evidence: Value = NIL) -> SlashResult:
        """Slash it on the coin that the move path makes, by the target's real referee.

        A legal move declares the record that it leads to, an illegal one the best for a cheat.
        """
        runner = RefereeRunner(self.target)
        return runner.slash(self.site, self._coin(runner), evidence)

    def slashed(self) -> bool:
        """True if any evidence that the opponent holds makes the slash pay."""
        return any(self.slash(evidence) is SlashResult.PAYS for evidence in self.evidence())

    def passes(self) -> bool:
        """True if the target's referee lets it through, to just this coin."""
        runner = RefereeRunner(self.target)
        return runner.passes(self.site, self._coin(runner))

    def vector(self, evidence: Value = NIL) -> dict[str, Any]:
        """The move as a conformance case."""
        call = self.move, self.share, evidence
        verdict = self.site.rules_say(self.target, *call)
        case = vector(self.target, self.site, call, verdict, "made")
        return cast(dict[str, Any], msgspec.to_builtins(case))

    def _coin(self, runner: RefereeRunner) -> tuple[Value, ...]:
        """The fields of the coin that the move makes."""
        if isinstance(self.verdict, Valid):
            declared = runner.honest(self.verdict.next)
        else:
            declared = runner.best_cheat(self.site, self.arguments())
        return runner.after(self.site, self.move, int_to_atom(self.share), declared)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Show a move in Hypothesis in one line."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        what = f"forbidden by {self.rule}" if self.rule else "legal"
        share = f"declaring {self.share} of {counted(self.site.amount, 'mojo')} for the opponent"
        return f"<{self.validator}: 0x{self.move.hex()}, {share}: {what}>"


def judged_move(target: Target, site: Site, move: bytes, share: int) -> JudgedMove | None:
    """The move with its verdict; None for what can be no coin: a share or a length that the
    referee refuses, or a move at which the rules raise."""
    if not site.fits(move, share):
        return None
    verdict, _ = site.ruling(target, move, share)
    return None if verdict is None else JudgedMove(target, site, move, share, verdict)
