"""Fuzzers, run to their end in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from channelsim.channel.lab.cases.fields import Probe
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer, FuzzerResult
from channelsim.channel.lab.targets.target import Target


def searched(target: Target, seed: str, work: float, stored: Sequence[Probe] = ()) -> FuzzerResult:
    """The result of the first fuzzer of a seed, after this much work."""
    fuzzer = Fuzzer(target, seed, 0, stored)
    deque(fuzzer.run(work, lambda: False), maxlen=0)
    return fuzzer.result()
