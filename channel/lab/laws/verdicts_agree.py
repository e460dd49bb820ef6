"""Rules and program say the same of every case, and lead to the same next record, to the byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from chia_rs import LazyNode, run_chia_program

from channel.lab.cases import Case
from channel.lab.trial import DISAGREEMENT, SAMPLES, THEFT, UNSLASHABLE, Finding, Fingerprint, Trial
from clsp.run import MAX_COST, STRICT, run_serialized
from clsp.run import Valid as ProgramValid
from clsp.values import NIL, Value, from_list
from games.contract import Hashes, Next, Raise, Slash, Valid, Verdict
from games.judge import result_value

RUNAWAY = 50_000_000
"""Once a validator used up all that a block has, its other runs get this much: with seconds for
each case nothing else would be found."""

VALID, SLASH, RAISE, EXCEEDED = "valid", "slash", "raise", "cost exceeded"


class VerdictsAgree:
    """The differential law. It is tried on every case, so its loop counts microseconds."""

    name = "verdicts agree"
    every = 1

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Judge every case twice."""
        spot, tally, hashes = trial.spot, trial.tally, trial.target.hashes
        name, amount, state = spot.validator, spot.amount, spot.before.state
        judge = trial.target.game.validators[name].judge
        program = trial.target.programs[name].serialized
        outcomes = tally.outcomes.setdefault(name, Counter())
        prints = tally.prints.setdefault(name, set())
        samples = tally.samples.setdefault(name, {})
        said: list[str] = []
        highest = 0
        limit = RUNAWAY if name in tally.runaway else MAX_COST
        for case in trial.cases:
            verdict = judge(state, case.move, case.share, amount, case.evidence, hashes)
            try:
                cost, result = run_chia_program(program, case.arguments, limit, STRICT)
            except ValueError as error:
                cost = 0
                reason = str(error)
                outcome = EXCEEDED if "cost exceeded" in reason else RAISE
                if outcome is EXCEEDED or "too many pairs" in reason:
                    tally.runaway.add(name)
                    limit = RUNAWAY
                agreed = outcome is RAISE and type(verdict) is Raise
            else:
                if result.atom == NIL:
                    outcome = SLASH
                    agreed = type(verdict) is Slash
                else:
                    outcome = VALID
                    agreed = type(verdict) is Valid and leads_to(result, verdict.next, hashes)
            said.append(outcome)
            highest = max(highest, cost)
            path: Fingerprint = (VALID if isinstance(verdict, Valid) else verdict.rule, cost)
            if path not in prints:
                prints.add(path)
                kept = samples.setdefault(path[0], [])
                if len(kept) < SAMPLES:
                    kept.append((cost, case.arguments))
            if not agreed:
                yield _finding(trial, case, verdict, outcome)
        outcomes.update(said)
        tally.tried[self.name] += len(said)
        tally.costs_at_most(f"{name} validator", highest)


def leads_to(result: LazyNode, step: Next | None, hashes: Hashes) -> bool:
    """Whether a program's result is this next record; what is absent at the end counts as ()."""
    if same(result, result_value(step, hashes)):
        return True
    return step is None and any(same(result, short) for short in _SHORT_ENDS)


_SHORT_ENDS: tuple[Value, ...] = ((NIL, NIL), (NIL, (NIL, NIL)))


def same(node: LazyNode, value: Value) -> bool:
    """Whether the interpreter's value is this one; only what must be looked at is converted."""
    while isinstance(value, tuple):
        pair = node.pair
        if pair is None:
            return False
        left, value_left = pair[0], value[0]
        if isinstance(value_left, tuple):
            if not same(left, value_left):
                return False
        elif left.atom != value_left:
            return False
        node, value = pair[1], value[1]
    return node.atom == value


def _finding(trial: Trial, case: Case, verdict: Verdict, outcome: str) -> Finding:
    severity, text = DISAGREEMENT, ""
    match verdict:
        case Slash(rule):
            what = trial.rule(rule)
            if outcome == RAISE:
                severity = THEFT
                text = f"a move that {what} forbids makes the program raise: its slash fails"
            elif outcome == VALID:
                severity = UNSLASHABLE
                text = f"a move that {what} forbids is legal to the program"
            else:
                text = f"a move that {what} forbids: {outcome}"
        case Valid(step):
            if outcome == SLASH:
                severity = THEFT
                text = "a legal move is slashed: its honest mover loses everything"
            elif outcome == VALID:
                severity = THEFT
                text = f"a legal move leads elsewhere: {_difference(trial, case, step)}"
            else:
                text = f"on a legal move the program ends with: {outcome}"
        case _:
            what = trial.rule(verdict.rule)
            if outcome == SLASH:
                severity = THEFT
            text = f"evidence that {what} refuses: {outcome}"
    return trial.finding(VerdictsAgree.name, severity, text, case.move, case.share, case.evidence)


def _difference(trial: Trial, case: Case, step: Next | None) -> str:
    """Which part of the next record the program has otherwise."""
    program = trial.target.programs[trial.spot.validator].serialized
    outcome = run_serialized(program, case.arguments)
    assert isinstance(outcome, ProgramValid)
    try:
        got = from_list(outcome.value)
    except ValueError:
        return "its result is no list"
    wanted = from_list(result_value(step, trial.target.hashes))
    names = ("the next validator", "the next state", "the next size limit")
    got += [NIL] * (len(names) - len(got))
    if len(got) > len(names):
        return "with extra conditions"
    return ", ".join(
        name for name, want, have in zip(names, wanted, got, strict=True) if want != have
    )


LAW = VerdictsAgree()
