"""Documents of `explore`."""

from __future__ import annotations

from channelsim.channel.documents.results import CampaignResults
from channelsim.channel.findings.finding import Figure, Finding


class ExploreDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document explore 1"
):
    """States of real peers, each visited once. `searches` begin at a moment of honest play each.

    `whole` searches have visited every state within their `bounds`; the others were cut, and have
    `frontier` states whose choices were not tried. `steps` counts choices, `merged` those that led
    to a known state, by the `symmetries`; `choices` has them by kind. `longest` is the number of
    choices on the longest path. `signatures` names what replaced them, and `not_confirmed` counts
    what was broken then, and not with real ones.
    """

    command = "explore"

    signatures: str
    searches: Figure
    whole: Figure
    states: Figure
    steps: Figure
    merged: Figure
    ends: Figure
    frontier: Figure
    longest: Figure
    choices: dict[str, Figure]
    bounds: dict[str, Figure]
    symmetries: tuple[str, ...]
    broken_promises: Figure
    not_confirmed: Figure
    findings: tuple[Finding, ...]
