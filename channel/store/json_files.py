"""JSON files of a data directory: each names its format, and another one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.store.interface import StoreError
from channelsim.channel.system.input_files import read

MOST_BYTES = 1 << 16


class Formatted(Protocol):
    """A document that says how it is written."""

    @property
    def format(self) -> str:
        """The format by name."""
        ...


D = TypeVar("D", bound=Formatted)
T = TypeVar("T")


def read_document(path: Path, kind: type[D], form: str, noun: str) -> D:
    """The document of this format in a file. Raises `StoreError`, which calls it a `noun`."""
    try:
        data = read(path, MOST_BYTES)
    except UsageError as error:
        raise StoreError(f"{error}") from None
    document = from_json(path, data, kind, noun)
    if document.format != form:
        raise StoreError(
            f"{path}: not written by this version of channelsim, but as {document.format[:60]!a}"
        )
    return document


def from_json(path: Path, data: bytes, kind: type[T], noun: str) -> T:
    """What JSON of a file holds. Raises `StoreError`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = ascii(f"{error}"[:200])[1:-1]
        raise StoreError(f"{path}: no {noun} of channelsim ({reason})") from None
