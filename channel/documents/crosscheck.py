"""Documents of `crosscheck`."""

from __future__ import annotations

from channelsim.channel.documents.results import CampaignResults, Seconds
from channelsim.channel.findings.finding import Figure, Finding
from channelsim.channel.lab.coverage.coverage import SampledCoverage


class CrosscheckDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document crosscheck 1"
):
    """Findings of all laws on generated cases; outcomes and coverage are by validator.

    `cases` are those on which a program ran, `disagreements` those on which it disagreed with the
    rules. `tried` counts tries by law; `unchecked` has the laws that were not tried, and why;
    `unreached` counts the differences withheld, in states that no play is known to reach.
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
    unreached: Figure = 0
    unchecked: dict[str, str]
    most_cost: dict[str, Figure]
    coverage: dict[str, SampledCoverage]
    findings: tuple[Finding, ...]
