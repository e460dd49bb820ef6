"""Every path stays under its budget: nothing that a mover writes makes its slash too dear."""

from __future__ import annotations

from collections.abc import Iterator

from channel.lab.cases.cases import Case
from channel.lab.cases.trial import THEFT, Finding, Trial
from channel.lab.laws import Needs
from clsp.integers import int_to_atom
from clsp.run import CostExceeded, Valid


class Cost:
    """Moves of the spot, through the move path and the slash path of the referee."""

    name = "cost"
    every = 128
    needs = Needs.NOTHING

    def check(self, trial: Trial) -> Iterator[Finding]:
        """The dearest paths that a few cases take; a slash that no block can hold is a theft."""
        spot, court = trial.spot, trial.court
        for case in trial.cases[:3]:
            declared = court.best_cheat(spot, case.arguments)
            fields = court.after(spot, case.move, int_to_atom(case.share), declared)
            trial.tally.tried[self.name] += 1
            moved = court.move(spot, fields)
            if isinstance(moved, Valid):
                trial.tally.costs_at_most(f"{spot.validator} move", moved.cost)
            slashed = court.slash_outcome(spot, fields, case.evidence)
            if isinstance(slashed, Valid):
                trial.tally.costs_at_most(f"{spot.validator} slash", slashed.cost)
            if isinstance(slashed, CostExceeded) or isinstance(moved, CostExceeded):
                if not self._let_through(trial, case):
                    continue
                text = "judging this move costs more than a block holds: it cannot be slashed"
                call = case.move, case.share, case.evidence
                yield trial.finding(self.name, THEFT, text, "cost", call)

    def _let_through(self, trial: Trial, case: Case) -> bool:
        return 0 <= case.share <= trial.spot.amount and (
            len(case.move) <= trial.spot.before.max_move_size
        )


LAW = Cost()
