"""Whatever the referee lets through and the rules forbid, an honest challenger is paid for."""

from __future__ import annotations

from collections.abc import Iterator

from channel.lab.court import Commitment, Slashed
from channel.lab.trial import THEFT, UNSLASHABLE, Finding, Trial
from clsp.integers import int_to_atom
from clsp.run import Raised, run_serialized
from clsp.values import Value
from games.contract import Slash, Valid

MOVES = 8
"""Different moves that are tried at a spot."""


class IllegalMovesPay:
    """Through the real referee: the move path makes the coin, the slash path must pay."""

    name = "illegal moves pay"
    every = 64

    def check(self, trial: Trial) -> Iterator[Finding]:
        """A few of the spot's moves, and wrong declarations of a legal one."""
        if not trial.spot.natural:
            return
        tried: set[tuple[bytes, int]] = set()
        for case in trial.cases:
            if len(tried) >= MOVES:
                break
            if (case.move, case.share) in tried or not 0 <= case.share <= trial.spot.amount:
                continue
            if len(case.move) > trial.spot.before.max_move_size:
                continue  # the referee refuses it, whatever else is wrong
            tried.add((case.move, case.share))
            verdict, _ = trial.ruling(case.move, case.share)
            if isinstance(verdict, Slash):
                yield from self._cheat(trial, case.move, case.share, verdict, case.arguments)
            elif isinstance(verdict, Valid) and len(tried) < 3:
                yield from self._misdeclared(trial, case.move, case.share, verdict)

    def _cheat(
        self, trial: Trial, move: bytes, share: int, verdict: Slash, arguments: bytes
    ) -> Iterator[Finding]:
        spot, court = trial.spot, trial.court
        fields = court.after(spot, move, int_to_atom(share), court.best_cheat(spot, arguments))
        if not court.passes(spot, fields):
            return
        trial.tally.tried[self.name] += 1
        held = trial.evidence(move)
        if any(court.slash(spot, fields, one) is Slashed.PAYS for one in held):
            return
        rule = trial.rule(verdict.rule)
        program = trial.target.programs[spot.validator].serialized
        severity, why = UNSLASHABLE, "no evidence that it holds slashes it"
        if isinstance(run_serialized(program, arguments), Raised):
            severity, why = THEFT, "the program raises, which protects the cheat"
        text = f"a move that {rule} forbids is not paid for to its opponent: {why}"
        yield trial.finding(self.name, severity, text, move, share, held[-1])

    def _misdeclared(
        self, trial: Trial, move: bytes, share: int, verdict: Valid
    ) -> Iterator[Finding]:
        """A legal move with a wrong commitment, size limit or terminal flag is illegal too."""
        spot, court = trial.spot, trial.court
        honest = court.honest(verdict.next)
        other_size = b"\x29" if honest.size != b"\x29" else b"\x28"
        wrong: dict[str, Commitment] = {
            "commitment": Commitment(b"\xee" * 32, honest.size),
            "size limit": Commitment(honest.infohash, other_size),
        }
        if verdict.next is not None:
            wrong["terminal flag"] = Commitment(b"", b"")
            wrong["size limit of nothing"] = Commitment(honest.infohash, b"")
        held: tuple[Value, ...] = trial.evidence(move)
        for what, declared in wrong.items():
            fields = court.after(spot, move, int_to_atom(share), declared)
            if not court.passes(spot, fields):
                continue
            trial.tally.tried[self.name] += 1
            if not any(court.slash(spot, fields, one) is Slashed.PAYS for one in held):
                text = f"a legal move that declares a wrong {what} cannot be slashed"
                yield trial.finding(self.name, UNSLASHABLE, text, move, share, held[-1])


LAW = IllegalMovesPay()
