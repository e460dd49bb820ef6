"""Recognise our kinds of files by content, to explain a file given to the wrong command."""

from __future__ import annotations

import re
import tomllib
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.system import input_files

DOCUMENT = "channelsim document "
"""The beginning of the `format` of every document that a command prints."""

SESSION = "channelsim session 1"
"""The `format` of the document of a session."""

_BEGINS_WITH_FORMAT = re.compile(rb'\s*\{\s*"format"')
_MALFORMED = re.compile(r"JSON is malformed: (?!trailing)(.*) \(byte (\d+)\)")
"""Trailing characters are the next line of a file of lines, whose first is a JSON object."""

_HEX = re.compile(rb"[0-9a-fA-F\s]+")
_CHIALISP = re.compile(rb"(?:\s|;[^\n]*\n)*+\(")


class Kind(Enum):
    """The kinds of files that commands read: a title, and the command that reads them."""

    TRANSCRIPT = ("a transcript", "`channelsim replay FILE` plays it again")
    FINDING = (
        "a finding",
        "`channelsim view FILE` shows its page, `channelsim trace FILE` its run,"
        " `channelsim replay FILE` tries one of `fuzz` again",
    )
    CASES = (
        "conformance cases",
        "`channelsim vectors check FILE` runs them, `channelsim trace FILE` shows one",
    )
    DECKS = ("conversations of decks", "`channelsim vectors check FILE` makes them again")
    SPENDS = ("spends of a corpus", "`channelsim coverage TARGET --corpus FOLDER` runs them")
    TARGET = ("a target", "`channelsim crosscheck FILE` and the option `--target` take it")
    SCRIPT = ("a script", "`channelsim play GAME --script FILE` plays it")
    COSTS = ("a snapshot of costs", "`channelsim cost TARGET --check FILE` holds figures to it")
    REASONS = (
        "reasons for mutants",
        "`channelsim mutants GAME` reads those in the game's package",
    )
    UNREACHABLE = (
        "reasons for code that nothing reaches",
        "`channelsim conform GAME` reads those in the game's package",
    )
    PROOFS = ("proofs of a target", "`channelsim conform TARGET --proofs FILE` checks them")
    DOCUMENT = (
        "a document that --json printed",
        "`channelsim compare A B` compares two, `channelsim view FILE` shows that of a campaign",
    )
    SESSION = (
        "the document of a session",
        "`channelsim play --report PAGE` writes its page, and `--transcript FILE` what is replayed",
    )
    PAGE = ("an HTML page", "`channelsim view FILE` opens it in the browser")
    PROGRAM = ("a program in hex", "a target names it under [programs]")
    SOURCE = ("Chialisp", "a target names it under [programs]")

    @property
    def title(self) -> str:
        """The name of this kind, with its article."""
        return self.value[0]

    @property
    def use(self) -> str:
        """The command that reads this kind."""
        return self.value[1]


def kind_of(data: bytes) -> Kind | None:
    """The kind of a file by its content; None for anything else.

    >>> kind_of(b'name = "x"\\n[programs]\\na = "a.clsp"\\n').title, kind_of(b"Dear all,")
    ('a target', None)
    """
    start = data.lstrip()
    if start.startswith(b'["') and b'"format":"channelsim ' in start[:200]:
        return Kind.TRANSCRIPT
    if start.startswith(b"{"):
        return _kind_of_json(start)
    if is_page(start):
        return Kind.PAGE
    if _HEX.fullmatch(data) and start:
        return Kind.PROGRAM
    if _CHIALISP.match(data):
        return Kind.SOURCE
    return _kind_of_toml(data)


class _Head(msgspec.Struct, frozen=True):
    """The part of every document of ours that says what it is."""

    format: str | None = None


def format_of(data: bytes) -> str | None:
    """The `format` of a JSON object; None for one without, and for anything else.

    >>> format_of(b'{"format": "channelsim fuzz 1", "runs": 3}'), format_of(b"[1]")
    ('channelsim fuzz 1', None)
    """
    try:
        return msgspec.json.decode(data, type=_Head).format
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def is_page(data: bytes) -> bool:
    """True if a file is a page of HTML."""
    return data[:64].lstrip().lower().startswith(b"<!doctype html>")


def check_kind(path: Path, data: bytes, *kinds: Kind) -> None:
    """Raises `UsageError`, naming the command to use, for a file of another of our kinds; also for
    a JSON document that is not whole or not JSON, of which no kind is known."""
    check_whole(path, data)
    actual = kind_of(data)
    if actual is not None and actual not in kinds:
        *first, last = (kind.title for kind in kinds)
        titles = f"{', '.join(first)} or {last}" if first else last
        raise UsageError(f"{path}: {actual.title}, not {titles}; {actual.use}")


def check_whole(path: Path, data: bytes) -> None:
    """Raises `UsageError` for a JSON document that ends early, or that is written wrongly."""
    if not data.lstrip().startswith(b"{"):
        return
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError) as error:
        if "truncated" in str(error) or f"(byte {len(data)})" in str(error):
            end = input_files.place(data.decode("utf-8", "replace").rstrip(), None)
            raise UsageError(
                f"{path}: the JSON ends early, at {end}: the file is not whole; write it again"
            ) from None
        wrong = _MALFORMED.fullmatch(str(error))
        if wrong is not None and _BEGINS_WITH_FORMAT.match(data):
            before = data[: int(wrong[2])].decode("utf-8", "replace")
            where = input_files.place(before, None)
            raise UsageError(f"{path}: {where}: not JSON: {wrong[1]}") from None


def _kind_of_json(data: bytes) -> Kind | None:
    for text in (data.split(b"\n", 1)[0], data):
        if len(text) > input_files.FINDING:
            continue
        try:
            document: Any = msgspec.json.decode(text)
        except (ValueError, RecursionError):
            continue
        match document:
            case {"format": str(tag)} if tag.startswith("channelsim ") and "finding" in tag:
                return Kind.FINDING
            case {"format": str(tag)} if tag.startswith("channelsim proofs"):
                return Kind.PROOFS
            case {"kind": "deck" | "deck-message"}:
                return Kind.DECKS
            case {"puzzle": _, "solution": _, "expect": _}:
                return Kind.SPENDS
            case {"validator": _, "move": _, "expect": _}:
                return Kind.CASES
            case {"format": str(tag)} if tag == SESSION:
                return Kind.SESSION
            case {"format": str(tag)} if tag.startswith(DOCUMENT):
                return Kind.DOCUMENT
    return None


def _kind_of_toml(data: bytes) -> Kind | None:
    if len(data) > input_files.TOML:
        return None
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if "validators" in document and "bundles" in document:
        return Kind.COSTS
    if "equivalent" in document:
        return Kind.REASONS
    if "unreachable" in document:
        return Kind.UNREACHABLE
    if "programs" in document:
        return Kind.TARGET
    if "hand" in document:
        return Kind.SCRIPT
    return None
