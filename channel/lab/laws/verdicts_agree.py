"""Law: rules and program give the same verdict on every case, and the same next record."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from chia_rs import LazyNode

from channelsim.channel.findings.finding import DISAGREEMENT, GRIEFING, Finding
from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.runs import RAISE, SLASH, VALID, Runs
from channelsim.channel.lab.cases.severity import assess
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.laws import Needs
from channelsim.clsp.values import NIL, Value
from channelsim.games.contract import Hashes, Raise, Slash, Valid
from channelsim.games.evidence import unchecked
from channelsim.games.judge import result_value, unread


class VerdictsAgree:
    """Compares rules and program on every case; its loop is the fastest of the lab."""

    name = "verdicts agree"
    every = 1
    needs = Needs.JUDGE

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Judge every case by the rules and by the program."""
        site, hashes = trial.site, trial.target.hashes
        amount, state = site.amount, site.before.state
        judge = trial.target.judge(site.validator)
        if judge is None:
            return
        runs = Runs(trial)
        note = runs.note
        for case, outcome, cost, result in runs:
            verdict = judge(state, case.move, case.share, amount, case.evidence, hashes)
            if isinstance(verdict, Valid):
                note(VALID, cost, case)
                agreed = result is not None and leads_to(result, verdict, hashes)
                if verdict.conditions:
                    yield from self._unchecked(trial, case, verdict)
                step, whole = verdict.next, site.natural and trial.target.rules is not None
                if step is not None and whole and (why := unread(trial.target.game, hashes, step)):
                    yield self._unread(trial, case, step.validator, why)
            else:
                note(verdict.rule, cost, case)
                agreed = outcome is (SLASH if type(verdict) is Slash else RAISE)
            if not agreed:
                yield from self._finding(trial, case, verdict, outcome)
        trial.tally.tried[self.name] += len(trial.cases)

    def _unchecked(self, trial: Trial, case: SiteCase, verdict: Valid) -> Iterator[Finding]:
        """Report extra conditions on which no peer can rely."""
        if doubt := unchecked(verdict.conditions):
            text = f"extra conditions on which neither side can rely: {doubt}"
            yield trial.finding(self.name, DISAGREEMENT, text, "unchecked conditions", case.call)

    def _unread(self, trial: Trial, case: SiteCase, validator: str, why: str) -> Finding:
        """Report a state that the rules make and cannot read."""
        text = f"the rules lead to a state of {validator} that its own reader refuses: {why}"
        cause = f"unread: {validator}: {why}"
        return trial.finding(self.name, GRIEFING, text, cause, case.call)

    def _finding(
        self, trial: Trial, case: SiteCase, verdict: Slash | Valid | Raise, outcome: str
    ) -> Iterator[Finding]:
        what = assess(trial, case, verdict, outcome)
        if what is not None:
            finding = trial.finding(self.name, what.severity, what.text, what.cause, case.call)
            reach = what.reach or finding.reach
            yield msgspec.structs.replace(finding, order_only=what.order_only, reach=reach)


def leads_to(result: LazyNode, legal: Valid, hashes: Hashes) -> bool:
    """True if a program's result is this next record, with these extra conditions."""
    ends = legal.next is None and not legal.conditions
    return matches(result, result_value(legal.next, hashes, legal.conditions), ends)


def matches(result: LazyNode, value: Value, ends: bool) -> bool:
    """True if a program's result is this value; at the end of a game, absent items count as ()."""
    return same(result, value) or (ends and any(same(result, short) for short in _SHORT_ENDS))


_SHORT_ENDS: tuple[Value, ...] = ((NIL, NIL), (NIL, (NIL, NIL)))


def same(node: LazyNode, value: Value) -> bool:
    """True if the interpreter's value is this one, converting only as much as needed."""
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


LAW = VerdictsAgree()
