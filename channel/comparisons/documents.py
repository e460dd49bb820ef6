"""Comparisons of two documents of one command, each kind in a file of `kinds`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from channelsim.channel.comparisons import kinds
from channelsim.channel.comparisons.changes import Change, Comparison, in_order, new_and_mended
from channelsim.channel.documents import document_files
from channelsim.channel.documents.cost import CostDocument
from channelsim.channel.documents.results import CampaignResults, Results
from channelsim.channel.errors import UsageError
from channelsim.games.amounts import counted
from channelsim.games.names import printable


@dataclass(frozen=True)
class DocumentKind:
    """A kind of documents: their type, and how two of them are compared.

    `compare` takes the older, the newer, and the percentage by which costs may rise. `effort` says
    how much was tried, with its unit.
    """

    type: type[Results]
    compare: Callable[[Any, Any, float], list[Change]]
    effort: Callable[[Any], tuple[float, str]] | None = None


@dataclass(frozen=True)
class ReadDocument:
    """A document, and where it was."""

    path: Path
    value: Results

    @property
    def seed(self) -> str | None:
        """The seed of a campaign, or of measured costs."""
        match self.value:
            case CampaignResults(seed=seed):
                return seed
            case CostDocument(costs=costs):
                return costs.seed
            case _:
                return None


@cache
def document_kinds() -> tuple[DocumentKind, ...]:
    """All kinds of documents, by command.

    >>> [kind.type.command for kind in document_kinds()][:2]
    ['attack', 'conform']
    """
    modules = (f"{kinds.__name__}.{module.name}" for module in iter_modules(kinds.__path__))
    own = [import_module(name).KIND for name in modules]
    return tuple(sorted(own, key=lambda kind: kind.type.command))


def read_document(path: Path) -> ReadDocument:
    """The document in a file, or that of the campaign in a folder. Raises `UsageError`."""
    return ReadDocument(path, document_files.read_document(path))


def compare(before: ReadDocument, after: ReadDocument, tolerance: float = 0.0) -> Comparison:
    """What changed; `tolerance` is by how many percent costs may rise.

    Raises `UsageError` for documents of different kinds or targets.
    """
    of_its_type = (kind for kind in document_kinds() if isinstance(before.value, kind.type))
    kind = next(of_its_type, DocumentKind(type(before.value), compare_findings))
    if not isinstance(after.value, kind.type):
        raise UsageError(
            f"{before.path} is of `{before.value.command}`, {after.path} of"
            f" `{after.value.command}`: only documents of one kind can be compared"
        )
    old, new = before.value.target, after.value.target
    if old != new:
        raise UsageError(
            f"{before.path} is of {_quoted(old)}, {after.path} of {_quoted(new)}: only documents of"
            " one target can be compared"
        )
    changes = in_order(kind.compare(before.value, after.value, tolerance))
    return Comparison(kind.type.command, old, changes, tuple(_notes(kind, before, after)))


def compare_findings(before: Results, after: Results, tolerance: float) -> list[Change]:
    """New and mended findings: the comparison of a kind that has none of its own."""
    old, new = (
        {
            (finding.severity, finding.place, finding.text): finding.line
            for finding in document.every_finding()
        }
        for document in (before, after)
    )
    return new_and_mended(old, new)


def _notes(kind: DocumentKind, before: ReadDocument, after: ReadDocument) -> list[str]:
    """What differs in how the two were made."""
    notes = [
        f"{document.path} was interrupted: it does not have everything"
        for document in (before, after)
        if document.value.interrupted
    ]
    notes += [
        f"{path} is not complete: {counted(len(value.lost), 'seed')} could not be done"
        for path, value in ((before.path, before.value), (after.path, after.value))
        if isinstance(value, CampaignResults) and value.lost
    ]
    if before.seed != after.seed:
        notes.append(f"the seeds differ: {_quoted(before.seed)} and {_quoted(after.seed)}")
    if kind.effort is not None:
        (tried, unit), (now, _) = kind.effort(before.value), kind.effort(after.value)
        if tried != now:
            less = "; what is missing may be there still" if now < tried else ""
            notes.append(f"{tried:,} {unit} before, {now:,} after{less}")
    return notes


def _quoted(text: str | None) -> str:
    return "none" if text is None else repr(printable(text[:60]))
