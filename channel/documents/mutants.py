"""Documents of `mutants`."""

from __future__ import annotations

import msgspec

from channelsim.channel.documents.results import CampaignResults, Seconds
from channelsim.channel.findings.finding import SURVIVOR, Figure, Finding
from channelsim.channel.lab.mutants.report import Count, Survivor


class ProgramMutants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The mutants of one program, in all and by kind."""

    total: Count
    kinds: dict[str, Count]


class MutantsDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document mutants 1"
):
    """Mutants that were hunted for so many `seconds` of work each, and those that survived."""

    command = "mutants"

    seconds: Seconds
    total: Count
    validators: dict[str, ProgramMutants]
    kinds: dict[str, Count]
    survivors: tuple[Survivor, ...]
    chunks: Figure

    def every_finding(self) -> tuple[Finding, ...]:
        """The open mutants; after an interrupt, those that were run."""
        return tuple(
            _survivor(survivor)
            for survivor in self.survivors
            if survivor.is_open and (survivor.runs or not self.interrupted)
        )


def _survivor(survivor: Survivor) -> Finding:
    """The finding of an open mutant, with what the prover says of it."""
    return Finding(
        rule="mutants",
        place=survivor.validator,
        severity=SURVIVOR,
        text=survivor.change,
        differs=() if survivor.proof is None else (survivor.proof.text,),
    )
