"""Law: no evidence and no forged solution slashes a legal move that declares its true result."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.findings.finding import GRIEFING, THEFT, Finding
from channelsim.channel.lab.cases.mutator import BYTES, SELECTIONS, SHAPES
from channelsim.channel.lab.cases.severity import difference
from channelsim.channel.lab.cases.trial import FORGED, LEADS_ELSEWHERE, LEGAL_SLASHED, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.referee.referee_runs import ADDRESS, SlashResult
from channelsim.channel.lab.sites.site import Call
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.contract import Raise, Valid

MOVES = 2
"""Legal moves that are tried at a site."""

EVIDENCE = 6
"""Shapes of evidence that are tried on each, besides the challenger's own."""


class LegalMovesAreSafe:
    """Runs the real referee: the move path takes the move, and the slash path never pays."""

    name = "legal moves are safe"
    every = 128
    needs = Needs.NOTHING

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try the honest move, and another legal one if the cases have one."""
        site = trial.site
        if not site.natural:
            return
        moves: dict[tuple[bytes, int], Value] = {}
        for case in trial.cases:
            moves.setdefault((case.move, case.share), case.evidence)
        legal = 0
        for (move, share), evidence in moves.items():
            if not site.fits(move, share):
                continue
            verdict, _ = trial.site.ruling(trial.target, move, share)
            if isinstance(verdict, Valid):
                legal += 1
                yield from self._attacked(trial, (move, share, evidence), verdict)
            if legal == MOVES:
                return

    def _attacked(self, trial: Trial, call: Call, verdict: Valid) -> Iterator[Finding]:
        site, runner, chance = trial.site, trial.runner, trial.chance
        move, share, given = call
        fields = runner.after(site, move, int_to_atom(share), runner.honest(verdict.next))
        trial.tally.tried[self.name] += 1
        if not runner.passes(site, fields):
            text = "the referee does not let a legal move through to the coin that it makes"
            yield trial.finding(self.name, GRIEFING, text, "legal move refused", call)
            return
        shapes = [chance.pick(SHAPES)[0] for _ in range(EVIDENCE // 2)]
        picked = [chance.pick(SELECTIONS) for _ in range(EVIDENCE // 2)]
        one_byte = chance.pick(BYTES)[0]
        for evidence in (given, *site.evidence(move), *shapes, *picked, one_byte):
            if trial.pays(fields, (evidence,)):
                if site.lie and trial.forbidden(move, share, evidence):
                    continue  # the lie is proved by evidence that its opponent did not have
                shown = move, share, evidence
                run = runner.slash_run(site, fields, evidence)
                text, cause = LEGAL_SLASHED, _cause(trial, shown)
                if not trial.slashes(*shown):
                    # The program does not call it illegal, but differs in what it leads to.
                    what = difference(trial, shown, verdict)
                    text, cause = (
                        f"a legal move leads elsewhere: {what}",
                        f"{LEADS_ELSEWHERE}: {what}",
                    )
                text += ": its honest mover loses everything"
                yield trial.finding(self.name, THEFT, text, cause, shown, run=run)
                break
        for what, forged in self._forged(trial).items():
            solution = serialize(forged)
            if runner.ended(site, fields, runner.spend(fields, solution)) is SlashResult.PAYS:
                text = f"a legal move is slashed by a solution with {what}"
                run = runner.puzzle(fields).serialized, solution
                yield trial.finding(self.name, THEFT, text, f"{FORGED}: {what}", call, run=run)

    def _forged(self, trial: Trial) -> dict[str, Value]:
        """Solutions of the slash path that only a dishonest challenger writes."""
        state = trial.site.state
        program = trial.target.programs[trial.site.validator].value
        slashes_all: Value = (b"\x01", NIL)  # (q), which returns ()
        return {
            "another validator": to_list((state, slashes_all, NIL, ADDRESS)),
            "another state": to_list(((state, b"x"), program, NIL, ADDRESS)),
            "one item more": to_list((state, program, NIL, ADDRESS, b"x")),
            "a rest that is not a list": (state, (program, (NIL, (ADDRESS, b"x")))),
        }


def _cause(trial: Trial, call: Call) -> str:
    """The cause of a slash of a legal move, with the rule that refuses its evidence, if any."""
    site, target = trial.site, trial.target
    judged = target.judge(site.validator) is not None
    verdict = site.rules_say(target, *call) if judged else None
    return f"{LEGAL_SLASHED}: {verdict.rule}" if isinstance(verdict, Raise) else LEGAL_SLASHED


LAW = LegalMovesAreSafe()
