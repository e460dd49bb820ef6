"""Proofs: inputs that tell programs apart, and proofs that are lost or new."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import Change, lost_and_added, new_and_mended
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.prove import ProveDocument


def compare(before: ProveDocument, after: ProveDocument, tolerance: float) -> list[Change]:
    """Differences that are new or mended, and what is no longer proved."""
    return [
        *new_and_mended(_differences(before), _differences(after)),
        *lost_and_added(_proofs(before), _proofs(after)),
    ]


def _differences(document: ProveDocument) -> dict[str, str]:
    """The parts that differ, whatever input shows them."""
    line = f"different: {_what(document)}"
    return {line: line} if document.verdict == "different" else {}


def _proofs(document: ProveDocument) -> list[str]:
    return [f"proof of {_what(document)}"] if document.verdict == "equal" else []


def _what(document: ProveDocument) -> str:
    return f"{document.validator} of {document.target} and of {document.against}"


KIND = DocumentKind(ProveDocument, compare, lambda document: (document.seconds, "seconds"))
