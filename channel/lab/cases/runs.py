"""Run the cases of a site and count their outcomes: the inner loop of the lab. And its work.

Campaigns and hunts are bounded by units of work: the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from chia_rs import LazyNode, run_chia_program

from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.trial import RUNAWAY, SAMPLES, Trial
from channelsim.clsp.run import MAX_COST, OUT_OF_MEMORY, STRICT, TooLarge, most_pairs, to_value
from channelsim.clsp.values import NIL, Value

SECOND = 330_000
"""Units of work in a second: fewer than most machines do, so that a campaign usually completes
its work before the clock stops it."""

A_CASE = 9
"""The work of a case besides its run: mutation, and the rules' verdict."""

COST = 30_000
"""The CLVM cost that counts as one unit of work."""

READ = 10_000
"""The cost that reading one pair of a result takes as much time as."""

VALID, SLASH, RAISE, EXCEEDED = OUTCOMES = ("valid", "slash", "raise", "cost exceeded")

Ran: TypeAlias = tuple[SiteCase, str, int, LazyNode | None]
"""A case, its outcome, its cost (0 where the interpreter reports none) and its result."""


class Runs:
    """The runs of one trial's cases; `note` is called with each path that one took."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        tally, name = trial.tally, trial.site.validator
        self._prints = tally.prints.setdefault(name, set())
        self._samples = tally.samples.setdefault(name, {})

    def __iter__(self) -> Iterator[Ran]:
        trial, tally = self._trial, self._trial.tally
        name = trial.site.validator
        program = trial.target.programs[name].serialized
        limit = RUNAWAY if name in tally.runaway else MAX_COST
        outcomes: list[str] = []
        highest = spent = 0
        for case in trial.cases:
            result: LazyNode | None = None
            try:
                cost, result = run_chia_program(program, case.arguments, limit, STRICT)
            except ValueError as error:
                cost = 0
                reason = str(error)
                cut_off = any(text in reason for text in ("cost exceeded", *OUT_OF_MEMORY))
                outcome = EXCEEDED if cut_off else RAISE
                if cut_off:
                    tally.runaway.add(name)
                    spent += limit
                    limit = RUNAWAY
            else:
                outcome = SLASH if result.atom == NIL else VALID
                if outcome is VALID and (VALID, cost) not in self._prints:
                    try:
                        to_value(result, most_pairs(limit))
                    except TooLarge:
                        # No referee can hash it: to the chain this is a run that fails.
                        outcome, result = RAISE, None
                        tally.runaway.add(name)
                        spent += READ * most_pairs(limit)
                        limit = RUNAWAY
            outcomes.append(outcome)
            spent += cost
            if cost > highest:
                highest = cost
            yield case, outcome, cost, result
        tally.outcomes.setdefault(name, Counter()).update(outcomes)
        tally.costs_at_most(f"{name} validator", highest)
        tally.spent += spent

    def note(self, end: str, cost: int, case: SiteCase) -> None:
        """Note the path of a case: its end (a rule's id, or the outcome) and its cost.

        A run that raises reports no cost; the size of its evidence then tells most paths apart.
        """
        path = (end, cost or -_size(case.evidence))
        if path in self._prints:
            return
        self._prints.add(path)
        self._trial.fresh.append(case)
        kept = self._samples.setdefault(end, [])
        if len(kept) < SAMPLES:
            kept.append((cost, case.arguments))


def _size(evidence: Value) -> int:
    """A number for the size of evidence: of a single byte, how many bits; of a pair, always 0.

    Programs treat single bytes differently, such as the number of an item that does not exist.

    >>> [_size(value) for value in (b"", bytes(1), bytes([15]), bytes([255]), bytes(2), (b"", b""))]
    [1, 2, 6, 10, 11, 0]
    """
    if isinstance(evidence, tuple):
        return 0
    if len(evidence) == 1:
        return 2 + evidence[0].bit_length()
    return 9 + len(evidence) if evidence else 1
