"""Documents of `crash-test`."""

from __future__ import annotations

from channelsim.channel.attack.crashed_run import CrashedRun
from channelsim.channel.documents.results import CampaignResults
from channelsim.channel.findings.finding import Figure, Finding


class CrashesDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document crash-test 2"
):
    """Runs whose honest peers were killed, and those in which something went wrong (`failed`).

    `node_kills` are among the `kills`; `stages` counts those of peers. There
    is no `digest`: processes are killed at instants of the machine's.
    """

    command = "crash-test"

    kills: Figure
    node_kills: Figure
    stages: dict[str, Figure]
    sessions: Figure
    contradictions: Figure
    broken_promises: Figure
    failed: tuple[CrashedRun, ...]
    findings: tuple[Finding, ...]
