"""The documents of commands: what `--json` prints and a campaign's folder keeps.

Each has a `format`, by which it is recognised. The command constructs it; `compare` and `report`
take the same type.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Annotated, ClassVar, TypeAlias

import msgspec

from channelsim.channel.campaign.shards import Shard
from channelsim.channel.findings.finding import FAILED_CHECK, SURVIVOR, Figure, Finding, summary
from channelsim.channel.lab.costs.snapshot import Changes, Snapshot
from channelsim.channel.lab.coverage.coverage import SampledCoverage
from channelsim.channel.lab.mutants.report import Count, Survivor
from channelsim.channel.simulation.sweep import Cell
from channelsim.clsp.analysis.tracer import CoverageCounts

Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]


class Results(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="format"
):
    """What all documents have; `dealer` deals the cards where only one player shuffles.

    `summary` counts the findings and names the worst.
    """

    command: ClassVar[str] = ""

    target: str | None
    dealer: str | None = None
    interrupted: bool = False
    summary: str = ""

    def __post_init__(self) -> None:
        """Count the findings, whatever a file says."""
        msgspec.structs.force_setattr(self, "summary", summary(self.every_finding()))

    def every_finding(self) -> tuple[Finding, ...]:
        """The findings, in the order of the document."""
        return ()


class LostWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Work that crashed its worker: the number of the seed, and how much work it still has."""

    seed: Figure
    work: Figure


class CampaignResults(Results, frozen=True, kw_only=True):
    """What documents of campaigns have. `digest` is that of configuration and results, None if the
    campaign was interrupted."""

    seed: str | None
    digest: str | None
    lost: tuple[LostWork, ...] = ()


class CrosscheckDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document crosscheck 1"
):
    """Findings of all laws on generated cases; outcomes and coverage are by validator.

    `cases` are those on which a program ran, `disagreements` those on which it disagreed with the
    rules. `tried` counts tries by law; `unchecked` has the laws that were not tried, and why.
    """

    command = "crosscheck"

    rules: str | None
    cases: Figure
    disagreements: Figure
    seconds: Seconds
    cases_per_second: Figure
    shards: Figure
    outcomes: dict[str, dict[str, Figure]]
    tried: dict[str, Figure]
    unchecked: dict[str, str]
    most_cost: dict[str, Figure]
    coverage: dict[str, SampledCoverage]
    findings: tuple[Finding, ...]

    def every_finding(self) -> tuple[Finding, ...]:
        """The findings, the most frequent first."""
        return self.findings


class FuzzDocument(CampaignResults, frozen=True, kw_only=True, tag="channelsim document fuzz 1"):
    """Findings of the fuzzers, one for each mistake, and the code that they reached.

    `mended` are the files of stored findings that no longer happen.
    """

    command = "fuzz"

    rules: str | None
    jobs: Figure
    seconds: Seconds
    stopped: bool
    shards: Figure
    runs: Figure
    runs_per_second: Figure
    coverage: dict[str, CoverageCounts]
    tried: dict[str, Figure]
    unchecked: dict[str, str]
    findings: tuple[Finding, ...]
    mended: tuple[str, ...]

    def every_finding(self) -> tuple[Finding, ...]:
        """The findings, the worst first."""
        return self.findings


class ProgramMutants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The mutants of one program, in all and by kind."""

    total: Count
    kinds: dict[str, Count]


class MutantsDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document mutants 1"
):
    """Mutants that were hunted for so many `seconds` of work each, and those that survived."""

    command = "mutants"

    seconds: Seconds
    total: Count
    validators: dict[str, ProgramMutants]
    kinds: dict[str, Count]
    survivors: tuple[Survivor, ...]
    chunks: Figure

    def every_finding(self) -> tuple[Finding, ...]:
        """The open mutants; after an interrupt, those that were run."""
        return tuple(
            _survivor(survivor)
            for survivor in self.survivors
            if survivor.reason is None and (survivor.runs or not self.interrupted)
        )


def _survivor(survivor: Survivor) -> Finding:
    return Finding(
        rule="mutants", place=survivor.validator, severity=SURVIVOR, text=survivor.change
    )


class DisputesDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document disputes 1"
):
    """Disputes with every adversary; the matrix is by adversary and part of a session.

    `idle` counts runs in which nothing was changed, `spends` the coins that are spent in the end.
    """

    command = "dispute run --all"

    runs: Figure
    idle: Figure
    blocks: Figure
    spends: Figure
    reorgs: Figure
    shards: Figure
    matrix: dict[str, dict[str, Cell]]
    findings: tuple[Finding, ...]

    def every_finding(self) -> tuple[Finding, ...]:
        """The broken promises and exceptions, each once."""
        return self.findings


class Status(Enum):
    """The result of one check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


class CheckResult(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"unchecked": "why"}
):
    """The result of a check: what was tried, and what is wrong.

    `unchecked` (`why` in files) is the reason why nothing could be tried; it is empty otherwise.
    """

    check: str
    tried: str = ""
    failures: tuple[Finding, ...] = ()
    unchecked: str = ""
    result: Status = Status.PASSED

    def __post_init__(self) -> None:
        """Derive the result, whatever a file says."""
        status = Status.NOT_CHECKED if self.unchecked else Status.PASSED
        msgspec.structs.force_setattr(self, "result", Status.FAILED if self.failures else status)


class ConformDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document conform 1"
):
    """The checks of a game's conformance, and how many failed."""

    command = "conform"

    failed: Figure
    checks: tuple[CheckResult, ...]

    def every_finding(self) -> tuple[Finding, ...]:
        """The failures of all checks."""
        return tuple(failure for check in self.checks for failure in check.failures)


class UnreachedCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Code that no case reached, and the stored reason why none can."""

    function: str
    code: str
    source_line: str
    reason: str | None


class CoveredProgram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program's coverage by stored cases; `differs` are those with an unexpected outcome."""

    cases: Figure
    total: CoverageCounts
    functions: dict[str, CoverageCounts]
    unreached: tuple[UnreachedCode, ...]
    differs: tuple[str, ...]


class CoverageDocument(Results, frozen=True, kw_only=True, tag="channelsim document coverage 1"):
    """The coverage of each program by a corpus."""

    command = "coverage"

    programs: dict[str, CoveredProgram]


class CostDocument(Results, frozen=True, kw_only=True, tag="channelsim document cost 1"):
    """Measured costs; a `block` holds so much.

    `refused` are whole spends that the node refused, with its reason, and `left_out` those of more
    mojos than it can give. `check` says how the costs differ from stored ones.
    """

    command = "cost"

    costs: Snapshot
    block: Figure
    refused: dict[str, str] = {}
    left_out: tuple[str, ...] = ()
    check: Changes | None = None

    def every_finding(self) -> tuple[Finding, ...]:
        """The spends that the node refused, the costs that rose, and those that are gone."""
        texts = [f"refused by the node: {name}: {why}" for name, why in self.refused.items()]
        if self.check is not None:
            texts += [f"higher than stored: {change}" for change in self.check.risen]
            texts += [f"no longer measured: {name}" for name in self.check.gone]
        return tuple(map(_dear, texts))


def _dear(text: str) -> Finding:
    return Finding(rule="cost", place="", severity=FAILED_CHECK, text=text)


Document: TypeAlias = (
    ConformDocument
    | CostDocument
    | CoverageDocument
    | CrosscheckDocument
    | DisputesDocument
    | FuzzDocument
    | MutantsDocument
)
"""A document of any command."""


def lost_work(lost: Iterable[Shard]) -> tuple[LostWork, ...]:
    """Work that was not done."""
    return tuple(LostWork(shard.first, shard.budget) for shard in lost)
