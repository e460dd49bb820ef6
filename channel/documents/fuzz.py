"""Documents of `fuzz`."""

from __future__ import annotations

from channelsim.channel.documents.results import CampaignResults, Seconds
from channelsim.channel.findings.finding import Figure, Finding
from channelsim.clsp.analysis.tracer import CoverageCounts


class FuzzDocument(CampaignResults, frozen=True, kw_only=True, tag="channelsim document fuzz 1"):
    """Findings of the fuzzers, one for each mistake, and the code that they reached.

    `mended` are the files of stored findings that no longer happen, `unreached` counts the cases
    withheld: differences in states that no play is known to reach.
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
    unreached: Figure = 0
    unchecked: dict[str, str]
    findings: tuple[Finding, ...]
    mended: tuple[str, ...]
