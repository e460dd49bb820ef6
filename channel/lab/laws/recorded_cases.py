"""Law: the programs decide every recorded case as the file of honest play says.

The slash of a recorded cheat, also of one that a signature proves, pays at the referee.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from channelsim.channel.findings.finding import (
    DISAGREEMENT,
    GRIEFING,
    MOVER,
    OPPONENT,
    THEFT,
    UNSLASHABLE,
    Finding,
    Loss,
)
from channelsim.channel.lab.cases.corpus import CaseRuns
from channelsim.channel.lab.cases.describe import described_call, described_run
from channelsim.channel.lab.cases.trial import LEADS_ELSEWHERE, LEGAL_SLASHED, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.referee.referee_runs import SlashResult
from channelsim.channel.lab.sites.honest_play import site_of_case
from channelsim.clsp.values import int_to_atom
from channelsim.games.vectors import Case, resolve_case

_SEVERITY = {
    ("valid", "slash"): (THEFT, "an honest move is slashed: its mover loses everything"),
    ("valid", "raise"): (GRIEFING, "an honest move makes the program raise"),
    ("slash", "valid"): (UNSLASHABLE, "a cheat that the file has is legal to the program"),
    ("slash", "raise"): (THEFT, "a cheat that the file has makes the program raise"),
}


class RecordedCases:
    """Runs every case of the file, once for each tally."""

    name = "recorded cases"
    every = 1
    needs = Needs.RECORDS

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Run all cases at the first trial of a tally."""
        target = trial.target
        if trial.tally.tried[self.name]:
            return
        runs = CaseRuns(target)
        for case in target.honest:
            trial.tally.tried[self.name] += 1
            differences = runs.differences(case)
            if differences is None:
                continue  # its program is named by the first case that was cut off
            if not differences and (case.expect == "slash" or (case.conditions and case.signature)):
                yield from self._unpaid(trial, case)
            for wrong in differences:
                got = wrong.rpartition("got ")[2] if wrong.startswith("program") else ""
                severity, text = _SEVERITY.get((case.expect, got), (DISAGREEMENT, ""))
                text, cause = text or f"a recorded case: {wrong}", ""
                if (case.expect, got) == ("valid", "slash"):
                    cause = LEGAL_SLASHED
                if case.expect == "valid" and wrong.startswith("program: next "):
                    severity, cause = THEFT, f"{LEADS_ELSEWHERE}: {wrong.partition(': ')[2]}"
                    text = "an honest move leads elsewhere: its mover loses everything"
                yield self._finding(trial, case, severity, text, cause)

    def _unpaid(self, trial: Trial, case: Case) -> Iterator[Finding]:
        """Report a cheat that the program slashes, but for which the referee does not pay."""
        target, runner = trial.target, trial.runner
        asked = resolve_case(case, target.name, target.hashes)
        site, share = site_of_case(target, asked), case.mover_share
        arguments = site.environment(asked.move, share, asked.evidence)
        declared = runner.best_cheat(site, arguments)
        fields = runner.after(site, asked.move, int_to_atom(share), declared)
        if not site.fits(asked.move, share) or not runner.passes(site, fields):
            return
        if runner.slash(site, fields, asked.evidence) is not SlashResult.PAYS:
            text = "the slash of a cheat that the file has does not pay"
            run = runner.slash_run(site, fields, asked.evidence)
            yield self._finding(trial, case, UNSLASHABLE, text, run=run)

    def _finding(
        self,
        trial: Trial,
        case: Case,
        severity: str,
        text: str,
        cause: str = "",
        run: tuple[bytes, bytes] | None = None,
    ) -> Finding:
        asked = resolve_case(case, trial.target.name, trial.target.hashes)
        shown = msgspec.to_builtins(case)
        lost = case.amount - case.mover_share
        against_mover = case.expect == "valid"
        sides = (OPPONENT, MOVER) if against_mover else (MOVER, OPPONENT)
        return Finding(
            rule=self.name,
            place=case.validator,
            severity=severity,
            text=text,
            cause=cause or f"recorded: {text}",
            loss=Loss(*sides, lost) if lost > 0 and severity != DISAGREEMENT else None,
            vector=shown,
            call=described_call((asked.move, case.mover_share, asked.evidence)),
            brun={} if run is None else described_run(*run),
        )


LAW = RecordedCases()
