"""Every path stays under its budget: nothing that a mover writes makes its slash too dear."""

from __future__ import annotations

from collections.abc import Iterator

from channel.lab.trial import THEFT, Finding, Trial
from clsp.integers import int_to_atom
from clsp.run import CostExceeded, Valid
from clsp.values import NIL


class Cost:
    """Moves of the spot, through the move path and the slash path of the referee."""

    name = "cost"
    every = 64

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
                text = "judging this move costs more than a block holds: it cannot be slashed"
                yield trial.finding(self.name, THEFT, text, case.move, case.share, NIL)


LAW = Cost()
