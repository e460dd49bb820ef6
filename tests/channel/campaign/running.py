"""Campaigns that are run here, from their beginning to their end."""

from __future__ import annotations

from typing import Any

from channelsim.channel.campaign.campaign import AnyReport, Campaign, here


def done(campaign: Campaign[Any, AnyReport], jobs: int = 1) -> AnyReport:
    """The report of a campaign, run in so many processes."""
    return campaign.run(here(campaign, jobs))
