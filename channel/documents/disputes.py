"""Documents of `dispute run --all`."""

from __future__ import annotations

from channelsim.channel.documents.results import CampaignResults
from channelsim.channel.findings.finding import Figure, Finding
from channelsim.channel.simulation.sweep import Cell


class DisputesDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document disputes 1"
):
    """Disputes with every adversary; the matrix is by adversary and part of a session.

    `idle` counts runs in which nothing was changed, `spends` the coins that are spent in the end,
    and `paid` those for which the honest side paid a fee.
    """

    command = "dispute run --all"

    runs: Figure
    idle: Figure
    blocks: Figure
    spends: Figure
    paid: Figure
    reorgs: Figure
    shards: Figure
    matrix: dict[str, dict[str, Cell]]
    findings: tuple[Finding, ...]
