"""Fields that the documents of all commands share.

Each kind is in a file of this package, with its `format`, by which it is recognised. The command
constructs it; `compare` and `report` take the same type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, TypeAlias

import msgspec

from channelsim.channel.campaign.shards import Shard
from channelsim.channel.findings.finding import Figure, Finding, summary
from channelsim.channel.findings.sentence import headline

Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]


class Results(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="format"
):
    """Fields of all documents; `dealer` deals the cards where only one player shuffles.

    `summary` counts the findings and names the worst; `worst` says of that one who takes what from
    whom ("" without findings).
    """

    command: ClassVar[str] = ""

    target: str | None
    dealer: str | None = None
    interrupted: bool = False
    summary: str = ""
    worst: str = ""

    def __post_init__(self) -> None:
        """Count the findings, whatever a file says."""
        findings = self.every_finding()
        msgspec.structs.force_setattr(self, "summary", summary(findings))
        first = min(findings, key=lambda finding: (finding.rank, -finding.lost), default=None)
        msgspec.structs.force_setattr(self, "worst", "" if first is None else headline(first))

    def every_finding(self) -> tuple[Finding, ...]:
        """The findings, in the order of the document: those of its own field, if it has any."""
        findings: tuple[Finding, ...] = getattr(self, "findings", ())
        return findings


class LostWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Work that crashed its worker: the number of the seed, and how much work it still has."""

    seed: Figure
    work: Figure


class CampaignResults(Results, frozen=True, kw_only=True):
    """Fields of documents of campaigns. `digest` is that of configuration and results, None if the
    campaign was interrupted."""

    seed: str | None
    digest: str | None
    lost: tuple[LostWork, ...] = ()


def lost_work(lost: Iterable[Shard]) -> tuple[LostWork, ...]:
    """Work that was not done."""
    return tuple(LostWork(shard.first, shard.budget) for shard in lost)
