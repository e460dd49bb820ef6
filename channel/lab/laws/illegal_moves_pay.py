"""Law: the slash of every illegal move that the referee accepts pays the honest challenger."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import THEFT, UNSLASHABLE, Finding
from channelsim.channel.lab.cases.runs import RAISE
from channelsim.channel.lab.cases.trial import MISDECLARED, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.referee.referee_runs import Commitment
from channelsim.clsp.run import ProgramValid, Raised
from channelsim.clsp.values import Value, int_to_atom
from channelsim.games.contract import Slash, Valid

MOVES = 8
"""Different moves that are tried at a site."""


class IllegalMovesPay:
    """Runs the real referee: the move path makes the coin, and the slash path must pay."""

    name = "illegal moves pay"
    every = 128
    needs = Needs.NOTHING

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try a few of the site's moves, and wrong declarations of legal ones."""
        if not trial.site.natural:
            return
        tried: set[tuple[bytes, int]] = set()
        for case in trial.cases:
            if len(tried) >= MOVES:
                break
            if (case.move, case.share) in tried or not trial.site.fits(case.move, case.share):
                continue
            tried.add((case.move, case.share))
            verdict, _ = trial.site.ruling(trial.target, case.move, case.share)
            if isinstance(verdict, Slash):
                yield from self._cheat(trial, case.move, case.share, verdict, case.arguments)
            elif isinstance(verdict, Valid) and len(tried) < 3:
                yield from self._misdeclared(trial, case.move, case.share, verdict)

    def _cheat(
        self, trial: Trial, move: bytes, share: int, verdict: Slash, arguments: bytes
    ) -> Iterator[Finding]:
        site, runner = trial.site, trial.runner
        fields = runner.after(site, move, int_to_atom(share), runner.best_cheat(site, arguments))
        if not runner.passes(site, fields):
            return
        trial.tally.tried[self.name] += 1
        evidence = site.evidence(move)
        if trial.pays(fields, evidence):
            return
        rule = trial.rule(verdict.rule)
        call = move, share, evidence[-1]
        said = [type(trial.run(move, share, value)) for value in evidence]
        slashing = [value for value in evidence if trial.slashes(move, share, value)]
        text = f"a move that {rule} forbids gets through the referee, and "
        if slashing:
            text += "its slash does not pay, though the validator slashes it"
            run = runner.slash_run(site, fields, slashing[0])
            yield trial.finding(self.name, THEFT, text, "slash path", call, run=run)
        elif Raised in said and ProgramValid not in said:
            text += "the program raises: its slash fails"
            cause = f"{verdict.rule}: {RAISE}"
            yield trial.finding(self.name, THEFT, text, cause, call)
        else:
            text += "it cannot be slashed"
            yield trial.finding(self.name, UNSLASHABLE, text, verdict.rule, call)

    def _misdeclared(
        self, trial: Trial, move: bytes, share: int, verdict: Valid
    ) -> Iterator[Finding]:
        """Try a legal move that declares a wrong commitment, size limit or terminal flag."""
        site, runner = trial.site, trial.runner
        honest = runner.honest(verdict.next)
        other_size = b"\x29" if honest.size != b"\x29" else b"\x28"
        wrong: dict[str, Commitment] = {
            "commitment": Commitment(b"\xee" * 32, honest.size),
            "size limit": Commitment(honest.infohash, other_size),
        }
        if verdict.next is not None:
            wrong["terminal flag"] = Commitment(b"", b"")
            wrong["size limit of nothing"] = Commitment(honest.infohash, b"")
        evidence: tuple[Value, ...] = site.evidence(move)
        if not any(isinstance(trial.run(move, share, value), ProgramValid) for value in evidence):
            return  # another law reports that the program does not take it for legal
        for what, declared in wrong.items():
            if declared == honest:
                continue
            fields = runner.after(site, move, int_to_atom(share), declared)
            if not runner.passes(site, fields):
                continue
            trial.tally.tried[self.name] += 1
            if not trial.pays(fields, evidence):
                text = f"a legal move that declares a wrong {what} cannot be slashed"
                shown, cause = (move, share, evidence[-1]), f"{MISDECLARED}: {what}"
                run = runner.slash_run(site, fields, evidence[-1])
                yield trial.finding(self.name, UNSLASHABLE, text, cause, shown, run=run)


LAW = IllegalMovesPay()
