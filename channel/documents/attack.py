"""Documents of `attack`."""

from __future__ import annotations

from channelsim.channel.documents.results import CampaignResults
from channelsim.channel.findings.finding import Figure, Finding

REAL = "real"
"""The signatures of sessions that are not searched in fast mode."""


class AttackDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document attack 1"
):
    """Sessions under faults. `actions` counts by kind what took place, `goals` what was reached.

    `attacked` are the sessions in which something took place, `funded` those with a channel on
    chain, and `restarts` counts the processes that came back. `deviated` counts the sessions in
    which each adversary deviated, and `answered` those in which one was accused of the rule that
    it broke. `signatures` is "real", or says that the search replaced them; `not_confirmed` counts
    what was broken then, and not with real ones.
    """

    command = "attack"

    signatures: str = REAL
    not_confirmed: Figure = 0
    sessions: Figure
    attacked: Figure
    funded: Figure
    restarts: Figure
    blocks: Figure
    actions: dict[str, Figure]
    goals: dict[str, Figure]
    deviated: dict[str, Figure]
    answered: dict[str, Figure]
    broken_promises: Figure
    findings: tuple[Finding, ...]
