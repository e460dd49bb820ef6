"""Law for targets without rules: honest moves stay legal, and no other move escapes its slash.

An honest move is legal with any evidence. A move on which the program raises, with all evidence
that works on an honest one, could not be slashed.
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import GRIEFING, THEFT, Finding
from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.runs import EXCEEDED, RAISE, SLASH, Runs
from channelsim.channel.lab.cases.severity import difference
from channelsim.channel.lab.cases.trial import LEADS_ELSEWHERE, LEGAL_SLASHED, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.laws.verdicts_agree import leads_to
from channelsim.channel.lab.sites.honest_play import plays, recorded_sites
from channelsim.channel.lab.sites.site import Call
from channelsim.clsp.run import CostExceeded, ProgramValid, Raised
from channelsim.clsp.values import NIL, Value
from channelsim.games.contract import Slash, Valid
from channelsim.games.judge import program_conditions, result_value


class HonestMovesHold:
    """Runs every case by the target's program and compares it with the site's honest move."""

    name = "honest moves hold"
    every = 1
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Run every case of the site, unless there are rules to judge them by."""
        if trial.target.judge(trial.site.validator) is not None:
            return
        runs, known = Runs(trial), trial.site.known
        honest = (trial.site.play.move, trial.site.play.share)
        for case, outcome, cost, result in runs:
            runs.note(outcome, cost, case)
            call = case.call
            if known is not None and (case.move, case.share) == honest:
                if outcome == SLASH:
                    text = "an honest move is slashed: its mover loses everything"
                    yield trial.finding(self.name, THEFT, text, LEGAL_SLASHED, call)
                elif result is not None and not leads_to(result, known, trial.target.hashes):
                    yield from self._elsewhere(trial, call, known)
            elif outcome in (RAISE, EXCEEDED):
                yield from self._protected(trial, case)
        trial.tally.tried[self.name] += len(trial.cases)
        yield from self._stuck(trial)

    def _elsewhere(self, trial: Trial, call: Call, known: Valid) -> Iterator[Finding]:
        """Report another result than the known one, unless it only adds conditions that no known
        signature meets."""
        outcome = trial.run(*call)
        if trial.slashes(*call):
            text = "an honest move is slashed under extra conditions: its mover loses everything"
            yield trial.finding(self.name, THEFT, text, LEGAL_SLASHED, call)
            return
        if isinstance(outcome, ProgramValid):
            conditions = program_conditions(outcome.value)
            hashes = trial.target.hashes
            if conditions and outcome.value == result_value(known.next, hashes, conditions):
                return
        what = difference(trial, call, known)
        text = f"an honest move leads elsewhere than the file of honest play says: {what}"
        yield trial.finding(self.name, THEFT, text, f"{LEADS_ELSEWHERE}: {what}", call)

    def _protected(self, trial: Trial, case: SiteCase) -> Iterator[Finding]:
        """Report a move that raises with all evidence that works on the honest move."""
        site = trial.site
        if not site.fits(case.move, case.share):
            return
        working = tuple(self._working(trial))
        if not working:
            return
        if NIL in working:
            if self._may_need_evidence(trial, case):
                return
        elif not self._of_another_size(trial, case):
            return
        for evidence in dict.fromkeys((*working, *site.held)):
            if not isinstance(trial.run(case.move, case.share, evidence), Raised | CostExceeded):
                return
        text = (
            "a move makes the program raise, with all evidence that it takes of an honest one:"
            " whatever the move is, its slash fails"
        )
        call = case.move, case.share, working[-1]
        yield trial.finding(self.name, THEFT, text, "a move raises", call, Slash(""))

    def _of_another_size(self, trial: Trial, case: SiteCase) -> bool:
        """True if all honest moves here have one size, and this one has another.

        Evidence may be about the move, so that evidence for an honest move need not fit another
        one. But a move of a wrong size must be slashable by any evidence.
        """
        sizes = [len(play.move) for play in plays(trial.target, trial.site.validator)]
        return len(sizes) > 2 and len(set(sizes)) == 1 and len(case.move) != sizes[0]

    def _may_need_evidence(self, trial: Trial, case: SiteCase) -> bool:
        """True if this move is of another size than the honest one, and of the size of one that
        the program judges by evidence only."""
        site = trial.site
        return len(case.move) != len(site.play.move) and any(
            isinstance(
                trial.at(other).run(other.play.move, other.play.share, NIL), Raised | CostExceeded
            )
            for other in recorded_sites(trial.target)
            if other.validator == site.validator and len(other.play.move) == len(case.move)
        )

    def _stuck(self, trial: Trial) -> Iterator[Finding]:
        if trial.site.known is None or next(self._working(trial), None) is not None:
            return
        text = "an honest move makes the program raise, with all evidence that the file has"
        yield trial.finding(self.name, GRIEFING, text, f"legal: {RAISE}")

    def _working(self, trial: Trial) -> Iterator[Value]:
        """The evidence with which the honest move does not raise, here or, in a hand that is
        played again with another secret, at its own place; after a lie, `()` if the file has no
        other evidence of this validator."""
        if trial.site.base is not None:
            trial = trial.at(trial.site.base)
        play = trial.site.play
        if trial.site.lie:
            # Only where nobody holds anything is it sure that nothing else works.
            held = (
                other.held
                for other in recorded_sites(trial.target)
                if other.validator == trial.site.validator
            )
            if set(held) == {(NIL,)}:
                yield NIL
            return
        for evidence in dict.fromkeys((play.evidence, *trial.site.evidence(play.move))):
            if not isinstance(trial.run(play.move, play.share, evidence), Raised | CostExceeded):
                yield evidence


LAW = HonestMovesHold()
