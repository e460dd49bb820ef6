"""No evidence and no other solution slashes a legal move that declares what it leads to."""

from __future__ import annotations

from collections.abc import Iterator

from channel.lab.cases.cases import BYTES, SELECTIONS, SHAPES
from channel.lab.cases.loss import FORGED, LEADS_ELSEWHERE, LEGAL_SLASHED
from channel.lab.cases.trial import GRIEFING, THEFT, Finding, Trial
from channel.lab.laws import Needs
from channel.lab.referee.referee_runs import ADDRESS, Slashed
from clsp.integers import int_to_atom
from clsp.run import Slash as ProgramSlash
from clsp.values import NIL, Value, serialize, to_list
from games.contract import Valid

MOVES = 2
"""Legal moves that are tried at a spot."""

EVIDENCE = 6
"""Shapes of evidence that are tried on each, besides the challenger's own."""


class LegalMovesAreSafe:
    """Through the real referee: the move path takes the move, the slash path never pays."""

    name = "legal moves are safe"
    every = 128
    needs = Needs.NOTHING

    def check(self, trial: Trial) -> Iterator[Finding]:
        """The honest move and another legal one, if the cases have one."""
        spot = trial.spot
        if not spot.natural:
            return
        moves: dict[tuple[bytes, int], Value] = {}
        for case in trial.cases:
            moves.setdefault((case.move, case.share), case.evidence)
        found = 0
        for (move, share), evidence in moves.items():
            if not 0 <= share <= spot.amount or len(move) > spot.before.max_move_size:
                continue
            verdict, _ = trial.ruling(move, share)
            if isinstance(verdict, Valid):
                found += 1
                yield from self._attacked(trial, (move, share, evidence), verdict)
            if found == MOVES:
                return

    def _attacked(
        self, trial: Trial, call: tuple[bytes, int, Value], verdict: Valid
    ) -> Iterator[Finding]:
        spot, court, dice = trial.spot, trial.court, trial.dice
        move, share, given = call
        fields = court.after(spot, move, int_to_atom(share), court.honest(verdict.next))
        trial.tally.tried[self.name] += 1
        if not court.passes(spot, fields):
            text = "the referee does not let a legal move through to the coin that it makes"
            yield trial.finding(self.name, GRIEFING, text, "legal move refused", call)
            return
        shapes = [SHAPES[int(dice.random() * len(SHAPES))][0] for _ in range(EVIDENCE // 2)]
        picked = [SELECTIONS[int(dice.random() * len(SELECTIONS))] for _ in range(EVIDENCE // 2)]
        one_byte = BYTES[int(dice.random() * 256)][0]
        for evidence in (given, *trial.evidence(move), *shapes, *picked, one_byte):
            if court.slash(spot, fields, evidence) is Slashed.PAYS:
                text = "a legal move is slashed: its honest mover loses everything"
                shown = move, share, evidence
                run = court.slash_run(spot, fields, evidence)
                cause = LEGAL_SLASHED
                if not isinstance(trial.run(*shown), ProgramSlash):
                    # The program does not call it illegal, but differs in what it leads to.
                    cause = LEADS_ELSEWHERE
                yield trial.finding(self.name, THEFT, text, cause, shown, run=run)
                break
        for what, solution in self._forged(trial).items():
            if court.ended(spot, fields, court.spend(fields, solution)) is Slashed.PAYS:
                text = f"a legal move is slashed by a solution with {what}"
                run = court.puzzle(fields).serialized, serialize(solution)
                yield trial.finding(self.name, THEFT, text, f"{FORGED}: {what}", call, run=run)

    def _forged(self, trial: Trial) -> dict[str, Value]:
        """Solutions of the slash path that no honest challenger writes."""
        state = trial.spot.state
        program = trial.target.programs[trial.spot.validator].value
        slashes_all: Value = (b"\x01", NIL)  # (q), which returns ()
        return {
            "another validator": to_list((state, slashes_all, NIL, ADDRESS)),
            "another state": to_list(((state, b"x"), program, NIL, ADDRESS)),
            "one item more": to_list((state, program, NIL, ADDRESS, b"x")),
            "a rest that is no list": (state, (program, (NIL, (ADDRESS, b"x")))),
        }


LAW = LegalMovesAreSafe()
