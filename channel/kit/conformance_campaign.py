"""Conformance as a campaign: its folder has the results of checks, and campaigns of some of them.

The checks run one after the other in the process of the command. Those that search are cut into
shards, and have folders of their own inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import msgspec

from channelsim.channel import __version__
from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.job import ShardResult, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.errors import InvariantError
from channelsim.channel.kit.conformance import Check, Effort, Subject
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import target_inputs
from channelsim.channel.system import input_files


def conform_configuration(target: Target, effort: Effort) -> Configuration:
    """What decides on the results of the checks. Raises `UsageError` for a file that is gone."""
    inputs = target_inputs(target)
    if effort.corpus is not None:
        inputs["corpus"] = _digest(sorted(effort.corpus.glob("*.jsonl")))
    if effort.costs is not None:
        inputs["costs"] = _digest([effort.costs])
    options = {
        "cases": effort.cases,
        "seconds": effort.seconds,
        "fuzzers": effort.fuzzers,
        "disputes": effort.disputes,
        "coverage": effort.coverage,
    }
    return Configuration("conform", __version__, target.name, effort.seed, inputs, options)


def conform_plan(configuration: Configuration, checks: Mapping[str, Check]) -> Plan:
    """The work in checks."""
    return Plan(configuration.digest, len(checks), unit=1)


def resumed(
    checks: Mapping[str, Check], plan: Plan, directory: CampaignDirectory[CheckResult]
) -> dict[str, Check]:
    """The checks; each has its result from the directory, or stores it there once it is made."""
    progress = _Progress(directory, plan, directory.stored(_StoredChecks()))
    return {
        name: progress.check(check, shard)
        for (name, check), shard in zip(checks.items(), plan.shards(), strict=True)
    }


def conform_digest(configuration: Configuration, results: Sequence[CheckResult]) -> str:
    """The SHA-256 of configuration and results."""
    fields = [
        {
            "check": result.check,
            "tried": result.tried,
            "failures": result.failures,
            "unchecked": result.unchecked,
        }
        for result in results
    ]
    return sha256(configuration.digest.encode() + msgspec.json.encode(fields)).hexdigest()


class _StoredChecks:
    """Reads the stored results of checks, which run in the process of the command alone."""

    returns_early = False

    def worker(self) -> ShardWork:
        """No worker makes a check."""
        raise InvariantError("a check is not a shard for a worker")

    def decode(self, data: bytes) -> CheckResult:
        """The result of a check."""
        return msgspec.json.decode(data, type=CheckResult)


@dataclass
class _Progress:
    """The results so far, and where they are stored."""

    directory: CampaignDirectory[CheckResult]
    plan: Plan
    results: dict[Shard, CheckResult]

    def __post_init__(self) -> None:
        self._begun, self._start = len(self.results), perf_counter()

    def check(self, check: Check, shard: Shard) -> Check:
        """A check that takes its result from the directory, or stores it there."""

        def stored(subject: Subject) -> CheckResult:
            if shard not in self.results:
                start = perf_counter()
                result = check(subject)
                data = msgspec.json.encode(result)
                self.directory.record(shard, ShardResult(data, perf_counter() - start))
                self.results[shard] = result
                self.directory.note(self._status())
            return self.results[shard]

        return stored

    def _status(self) -> CampaignStatus:
        found = sum(len(one.failures) for one in self.results.values())
        done = len(self.results)
        seconds = perf_counter() - self._start
        total = self.plan.total
        return CampaignStatus(done, total, done, total, self._begun, seconds, {"findings": found})


def _digest(paths: Sequence[Path]) -> str:
    contents = sha256()
    for path in paths:
        data = input_files.read(path, input_files.LINES)
        contents.update(f"{path.name}\0{sha256(data).hexdigest()}\n".encode())
    return contents.hexdigest()
