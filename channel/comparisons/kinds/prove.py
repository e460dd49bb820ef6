"""Proofs: claims that are newly broken, or no longer, and proofs that are lost or new."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.comparisons.changes import Change, lost_and_added, new_and_mended
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.prove.result import BROKEN, ProofResult


def compare(before: ProveDocument, after: ProveDocument, tolerance: float) -> list[Change]:
    """Broken claims that are new or mended, whatever input shows them, and what is no longer
    proved."""
    return [
        *new_and_mended(dict(_broken(before)), dict(_broken(after))),
        *lost_and_added(*(_proofs(document) for document in (before, after))),
    ]


def _broken(document: ProveDocument) -> Iterator[tuple[str, str]]:
    for proof in document.proofs:
        if proof.verdict in BROKEN:
            line = f"{proof.verdict}: {_what(proof, document)}"
            yield line, line


def _proofs(document: ProveDocument) -> list[str]:
    return [f"proof of {_what(proof, document)}" for proof in document.proofs if proof.is_proved]


def _what(proof: ProofResult, document: ProveDocument) -> str:
    against = f" and of {document.against}" if document.against is not None else ""
    return f"{proof.name} of {document.target}{against}"


KIND = DocumentKind(ProveDocument, compare, lambda document: (document.limit, "seconds a part"))
