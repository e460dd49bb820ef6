"""Documents of `prove`."""

from __future__ import annotations

from channelsim.channel.documents.results import CampaignResults, Seconds
from channelsim.channel.findings.finding import Figure, Finding
from channelsim.channel.prove.proof_file import ProofFile
from channelsim.channel.prove.result import ProofResult


class ProveDocument(CampaignResults, frozen=True, kw_only=True, tag="channelsim document prove 1"):
    """Proofs of claims about the validators of a target, and what breaks a claim.

    `against` is the target that its programs are compared with, None for other claims. Each size of
    a move was examined for at most `limit` seconds of work. `models` are what all proofs rest on,
    in words. `seconds` are those of this run, `work` those of processor time for each proof, in
    earlier runs too. A finding is an input that breaks a claim.
    """

    command = "prove"

    against: str | None
    limit: Seconds
    models: tuple[str, ...]
    versions: dict[str, str]
    proofs: tuple[ProofResult, ...]
    parts: Figure
    seconds: Seconds
    findings: tuple[Finding, ...]
    work: tuple[Seconds, ...] = ()

    def proof_file(self) -> ProofFile:
        """The proofs as a file."""
        return ProofFile(
            target=self.target or "",
            against=self.against,
            versions=self.versions,
            limit=self.limit,
            models=self.models,
            proofs=self.proofs,
        )
