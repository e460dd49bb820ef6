"""Documents in files: the one reader of all, by their `format`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import msgspec

from channelsim.channel import documents
from channelsim.channel.campaign.directory import SUMMARY, is_campaign
from channelsim.channel.campaign.job import read_counter
from channelsim.channel.documents.cost import CostDocument
from channelsim.channel.documents.results import Results
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.costs import snapshot
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import DOCUMENT, Kind, check_whole, format_of, kind_of
from channelsim.clsp.run import MAX_COST
from channelsim.games.decoding import document_error


@cache
def formats() -> dict[str, type[Results]]:
    """The types of documents, by their `format`.

    >>> formats()["channelsim document fuzz 1"].command
    'fuzz'
    """
    names = [module.name for module in iter_modules(documents.__path__)]
    modules = [import_module(f"{documents.__name__}.{name}") for name in names]
    kinds = [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Results) and kind.command
    ]
    return {str(kind.__struct_config__.tag): kind for kind in kinds}


def read_document(path: Path) -> Results:
    """The document in a file, or that of the campaign in a folder; costs may be a snapshot.

    Raises `UsageError`, naming the file and the place.
    """
    if path.is_dir():
        path = summary_file(path)
    data = input_files.read(path, input_files.LINES)
    if kind_of(data) is Kind.COSTS:
        costs = snapshot.read(path)
        return CostDocument(target=costs.target, costs=costs, block=MAX_COST, refused={})
    return parsed(path, data)


def parsed(path: Path, data: bytes) -> Results:
    """The document in a file that was read. Raises `UsageError`."""
    check_whole(path, data)
    tag = format_of(data)
    if tag is None or not tag.startswith(DOCUMENT):
        raise _refusal(path, data)
    kind = formats().get(tag)
    if kind is None:
        raise UsageError(
            f"{path}: a document of another version, or of a command that this version does not"
            f" read: its format is {tag[:60]!r}; run the command again"
        )
    try:
        document: Results = msgspec.json.decode(data, type=kind, dec_hook=read_counter)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = document_error(error, data, kind)
        raise UsageError(f"{path}: no document of `{kind.command} --json`: {reason}") from None
    return document


def summary_file(folder: Path) -> Path:
    """The file of the document of a campaign that is done. Raises `UsageError`."""
    if not is_campaign(folder):
        raise UsageError(f"{folder}: this folder holds no campaign, so it has no document")
    if input_files.is_missing(folder / SUMMARY):
        raise UsageError(f"{folder}: the campaign is not done yet; resume it with --resume")
    return folder / SUMMARY


def _refusal(path: Path, data: bytes) -> UsageError:
    commands = ", ".join(sorted(kind.command for kind in formats().values()))
    known = f"a document that --json printed ({commands}) or a snapshot of costs"
    if not data.strip():
        return UsageError(f"{path}: is empty, not {known}")
    known_kind = kind_of(data)
    if known_kind is not None:
        return UsageError(f"{path}: {known_kind.title}, not {known}; {known_kind.use}")
    return UsageError(
        f"{path}: not {known}: it has no `format`; documents of earlier versions, and of commands"
        " that were interrupted before they had any results, have none"
    )
