"""Documents of `attack`."""

from __future__ import annotations

from channelsim.channel.documents.results import CampaignResults
from channelsim.channel.findings.finding import Figure, Finding

REAL = "real"
"""The signatures of sessions that are not searched in fast mode."""


class AttackDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document attack 1"
):
    """Sessions under faults. `faults` are the kinds of actions that were used, and `actions` counts
    by kind what took place. `phases` and `goals` count the sessions that reached each.

    `situations` were reached, and so many `scripts` were kept to be changed, each the first to
    reach some. `stopped`: by the clock. `mended` are the files of stored findings that no longer
    happen.

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
    stopped: bool
    faults: tuple[str, ...]
    situations: Figure
    scripts: Figure
    phases: dict[str, Figure]
    actions: dict[str, Figure]
    goals: dict[str, Figure]
    deviated: dict[str, Figure]
    answered: dict[str, Figure]
    broken_promises: Figure
    mended: tuple[str, ...]
    findings: tuple[Finding, ...]
