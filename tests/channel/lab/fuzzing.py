"""Fuzzers, run to their end in this process."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.fuzz.fuzz_part import FuzzPart
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer
from channelsim.channel.lab.targets.target import Target


def searched(target: Target, seed: str, work: float, stored: Sequence[SiteCase] = ()) -> FuzzPart:
    """The result of the first fuzzer of a seed, after this much work."""
    fuzzer = Fuzzer(target, seed, 0, stored)
    for _ in fuzzer.run(work):
        pass
    return fuzzer.part()
