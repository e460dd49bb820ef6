"""The nodes and branches of a target's programs that a crosscheck reaches.

Every case leaves a fingerprint, but only some runs are traced: a few of each way to end, in
turn, as many as a budget of cost allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.trial import LabTally, Sample
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.tracer import Coverage, CoverageCounts

BUDGET = 30_000_000
"""The total CLVM cost of the traced runs of one validator: a fraction of a second."""

UNKNOWN = 20_000
"""The assumed cost of a run that raised: the interpreter does not report it."""


class SampledCoverage(msgspec.Struct, frozen=True):
    """Coverage of one validator by sampled runs; None where nothing was traced: its runs do not
    end, or it is nested too deep."""

    fingerprints: int
    reached: CoverageCounts | None = None


def sampled_coverage(target: Target, tally: LabTally) -> dict[str, SampledCoverage]:
    """Trace samples of a crosscheck's runs, and count what they reach, by validator."""
    found = {}
    for name in target.present:
        prints = len(tally.prints.get(name, ()))
        if name in tally.runaway:
            found[name] = SampledCoverage(prints)
            continue
        try:
            tracer = target.tracer(name)
        except UsageError:
            found[name] = SampledCoverage(prints)
            continue
        covered = Coverage()
        budget = BUDGET
        for cost, arguments in in_turn(tally.samples.get(name, {})):
            budget -= cost or UNKNOWN
            if budget < 0:
                break
            covered.add(tracer.reach(arguments))
        found[name] = SampledCoverage(prints, covered.counts(tracer))
    return found


def in_turn(by_end: dict[str, list[Sample]]) -> Iterator[Sample]:
    """The stored runs, one of each way to end, then the second ones, and so on.

    >>> list(in_turn({"valid": [(9, b"1"), (8, b"3")], "RULE-1": [(7, b"2")]}))
    [(9, b'1'), (7, b'2'), (8, b'3')]
    """
    for runs in zip_longest(*by_end.values()):
        yield from (run for run in runs if run is not None)
