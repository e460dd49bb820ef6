"""Law: a timeout pays both sides their declared shares, which add up to the coin's amount."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import THEFT, Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.referee.referee_runs import paid
from channelsim.clsp.run import ProgramValid
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.contract import Valid

MOVERS, WAITERS = b"\x01" * 32, b"\x02" * 32


class Shares:
    """Runs the timeout path on the coins before and after the honest move."""

    name = "shares"
    every = 128
    needs = Needs.NOTHING
    without_programs = True

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try both coins of the site."""
        site, runner = trial.site, trial.runner
        if not site.natural:
            return
        yield from self._timeout(trial, runner.coin(site).atoms(), site.before.mover_share)
        verdict, _ = trial.site.ruling(trial.target, site.play.move, site.play.share)
        if isinstance(verdict, Valid):
            share = int_to_atom(site.play.share)
            fields = runner.after(site, site.play.move, share, runner.honest(verdict.next))
            yield from self._timeout(trial, fields, site.play.share)

    def _timeout(self, trial: Trial, fields: tuple[Value, ...], share: int) -> Iterator[Finding]:
        site = trial.site
        rest = site.amount - share
        trial.tally.tried[self.name] += 1
        addresses = (MOVERS if share else NIL, WAITERS if rest else NIL)
        solution = serialize(to_list(addresses))
        outcome = trial.runner.spend(fields, solution)
        due = {MOVERS: share, WAITERS: rest}
        got, ran = paid(outcome), isinstance(outcome, ProgramValid)
        if not ran or got != {address: amount for address, amount in due.items() if amount}:
            run = trial.runner.puzzle(fields).serialized, solution
            text = "a timeout does not pay both sides what was declared"
            lost = max(amount - got.get(address, 0) for address, amount in due.items())
            yield trial.finding(self.name, THEFT, text, "timeout pays", run=run, lost=lost)
        for wrong in ((NIL, WAITERS), (MOVERS, NIL)):
            if wrong == addresses:
                continue
            solution = serialize(to_list(wrong))
            outcome = trial.runner.spend(fields, solution)
            taken = isinstance(outcome, ProgramValid)
            lost = site.amount - sum(paid(outcome).values()) if taken else 0
            if lost:
                run = trial.runner.puzzle(fields).serialized, solution
                text = "a timeout pays a share to neither side"
                cause = "timeout pays nobody"
                yield trial.finding(self.name, THEFT, text, cause, run=run, lost=lost)


LAW = Shares()
