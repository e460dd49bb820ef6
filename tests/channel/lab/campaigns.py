"""Campaigns of the fuzzer, run to their end in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from channelsim.channel.lab.cases.fields import Probe
from channelsim.channel.lab.fuzz.campaign import Campaign, CampaignResult
from channelsim.channel.lab.target.target import Target


def searched(
    target: Target, seed: str, work: float, stored: Sequence[Probe] = ()
) -> CampaignResult:
    """The result of the first campaign of a seed, after this much work."""
    campaign = Campaign(target, seed, 0, stored)
    deque(campaign.run(work, lambda: False), maxlen=0)
    return campaign.result()
