"""The kinds of documents that can be compared, each in a file of `kinds`, and their comparison.

A document is what a command prints with `--json`, or a snapshot of costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import msgspec

from channelsim.channel.campaign.directory import SUMMARY, is_campaign
from channelsim.channel.comparisons import kinds
from channelsim.channel.comparisons.changes import Change, Comparison, in_order
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.costs import snapshot
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, kind_of
from channelsim.games.amounts import counted
from channelsim.games.decoding import document_error
from channelsim.games.names import printable


@dataclass(frozen=True)
class DocumentKind:
    """A kind of documents: the command that writes them, and how two of them are compared.

    `keys` are those by which one is recognised. `type` may have the fields `target`, `seed`,
    `interrupted` and `lost`. `compare` takes the older, the newer, and the percentage by which
    costs may rise. `effort` names the field that says how much was tried.
    """

    command: str
    keys: frozenset[str]
    type: type[Any]
    compare: Callable[[Any, Any, float], list[Change]]
    effort: str | None = None


@dataclass(frozen=True)
class ReadDocument:
    """A document of a known kind, and where it was."""

    path: Path
    kind: DocumentKind
    value: Any


@cache
def document_kinds() -> tuple[DocumentKind, ...]:
    """All kinds of documents, by command.

    >>> [kind.command for kind in document_kinds()][:2]
    ['conform', 'cost']
    """
    names = sorted(one.name for one in iter_modules(kinds.__path__))
    found = [import_module(f"{kinds.__name__}.{name}").KIND for name in names]
    return tuple(sorted(found, key=lambda kind: kind.command))


def read_document(path: Path) -> ReadDocument:
    """The document in a file, or that of the campaign in a folder.

    Raises `UsageError`, naming the file and the place.
    """
    if path.is_dir():
        path = _summary(path)
    data = input_files.read(path, input_files.FINDING)
    if kind_of(data) is Kind.COSTS:
        return _of_costs(path)
    try:
        keys = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _refusal(path, data) from None
    kind = next((one for one in document_kinds() if one.keys <= keys), None)
    if keys == {"interrupted"}:
        raise UsageError(f"{path}: of a command that was interrupted before it had any results")
    if kind is None:
        raise _refusal(path, data)
    try:
        return ReadDocument(path, kind, msgspec.json.decode(data, type=kind.type))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        said = document_error(error, data, kind.type)
        raise UsageError(f"{path}: no document of `{kind.command} --json`: {said}") from None


def compare(before: ReadDocument, after: ReadDocument, tolerance: float = 0.0) -> Comparison:
    """What changed; `tolerance` is by how many percent costs may rise.

    Raises `UsageError` for documents of different kinds or targets.
    """
    kind = before.kind
    if kind is not after.kind:
        raise UsageError(
            f"{before.path} is of `{kind.command}`, {after.path} of `{after.kind.command}`: only"
            " documents of one kind can be compared"
        )
    old, new = (getattr(one.value, "target", None) for one in (before, after))
    if old != new:
        raise UsageError(
            f"{before.path} is of {_quoted(old)}, {after.path} of {_quoted(new)}: only documents of"
            " one target can be compared"
        )
    changes = in_order(kind.compare(before.value, after.value, tolerance))
    return Comparison(kind.command, old, changes, tuple(_notes(before, after)))


def _notes(before: ReadDocument, after: ReadDocument) -> list[str]:
    """What differs in how the two were made."""
    notes = [
        f"{one.path} was interrupted: it does not have everything"
        for one in (before, after)
        if getattr(one.value, "interrupted", False)
    ]
    notes += [
        f"{one.path} is not complete: {counted(len(lost), 'seed')} could not be done"
        for one in (before, after)
        if (lost := getattr(one.value, "lost", ()))
    ]
    old, new = (getattr(one.value, "seed", None) for one in (before, after))
    if old != new:
        notes.append(f"the seeds differ: {_quoted(old)} and {_quoted(new)}")
    if effort := before.kind.effort:
        tried, now = (getattr(one.value, effort) for one in (before, after))
        if tried != now:
            less = "; what is missing may be there still" if now < tried else ""
            notes.append(f"{tried:,} {effort} before, {now:,} after{less}")
    return notes


def _summary(folder: Path) -> Path:
    """The document of a campaign that is done. Raises `UsageError`."""
    if not is_campaign(folder):
        raise UsageError(f"{folder}: a folder without a campaign")
    if input_files.is_missing(folder / SUMMARY):
        raise UsageError(f"{folder}: its campaign is not done; resume it with --resume")
    return folder / SUMMARY


def _of_costs(path: Path) -> ReadDocument:
    kind = next(one for one in document_kinds() if one.command == "cost")
    return ReadDocument(path, kind, snapshot.read(path))


def _refusal(path: Path, data: bytes) -> UsageError:
    found = kind_of(data)
    if found is Kind.DOCUMENT:
        return UsageError(f"{path}: a document that cannot be compared, not {_known()}")
    what, use = ("something else", "") if found is None else (found.title, f"; {found.use}")
    return UsageError(f"{path}: {what}, not {_known()}{use}")


def _known() -> str:
    commands = ", ".join(kind.command for kind in document_kinds())
    return f"a document that --json printed ({commands}) or a snapshot of costs"


def _quoted(text: str | None) -> str:
    return "none" if text is None else repr(printable(text[:60]))
