"""Law: no move makes its own slash cost more than a block holds."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import THEFT, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.clsp.run import CostExceeded, ProgramValid
from channelsim.clsp.values import int_to_atom


class Cost:
    """Runs moves of the site through the move path and the slash path of the referee."""

    name = "cost"
    every = 128
    needs = Needs.NOTHING

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Run a few cases and note their costs; a slash that no block can hold is a theft."""
        site, runner = trial.site, trial.runner
        for case in trial.cases[:3]:
            declared = runner.best_cheat(site, case.arguments)
            fields = runner.after(site, case.move, int_to_atom(case.share), declared)
            trial.tally.tried[self.name] += 1
            moved = runner.move(site, fields)
            if isinstance(moved, ProgramValid):
                trial.tally.costs_at_most(f"{site.validator} move", moved.cost)
            slashed = runner.spend(fields, runner.slash_solution(site, case.evidence))
            if isinstance(slashed, ProgramValid):
                trial.tally.costs_at_most(f"{site.validator} slash", slashed.cost)
            if isinstance(slashed, CostExceeded) or isinstance(moved, CostExceeded):
                if not site.fits(case.move, case.share):
                    continue
                text = "judging this move costs more than a block holds: it cannot be slashed"
                yield trial.finding(self.name, THEFT, text, "cost", case.call)


LAW = Cost()
