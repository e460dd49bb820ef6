"""Findings in files: written, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.fuzz.findings import FORMAT, Document
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.channel.system.output import write_whole
from channelsim.games.decoding import document_error


class FindingFiles:
    """Writes findings into a folder, a file each; files of others stay as they are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[Path, Document] = {}

    def write(self, found: Sequence[Document]) -> list[Path]:
        """Write what is new or has changed; return the files of all. Raises `UsageError`."""
        if found:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(
                    f"--out {self._folder}: cannot be written ({error.strerror})"
                ) from None
        paths = []
        for one in found:
            path = self._folder / one.file_name
            if self._written.get(path) != one:
                data = msgspec.json.format(msgspec.json.encode(one), indent=2) + b"\n"
                write_whole("--out", path, data)
                self._written[path] = one
            paths.append(path)
        return paths

    def write_last(self, found: Sequence[Document]) -> list[Path]:
        """Write all findings; files of this one that now stand under others are removed."""
        paths = self.write(found)
        for path in self._written.keys() - set(paths):
            path.unlink(missing_ok=True)
        return paths


def command_line(command: str, path: Path) -> str:
    """The line that runs a command on a finding's file, for a shell.

    >>> command_line("replay", Path("my night/findings/a.json"))
    "channelsim replay 'my night/findings/a.json'"
    """
    return f"channelsim {command} {quote(str(path))}"


def stored_findings(folder: Path) -> list[tuple[Path, Document | UsageError]]:
    """Read the findings in a folder by name; for a bad file, the error instead."""
    found: list[tuple[Path, Document | UsageError]] = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            found.append((path, load(path)))
        except UsageError as error:
            found.append((path, error))
    return found


def load(path: Path) -> Document:
    """The finding in a file. Raises `UsageError`."""
    return parsed(path, input_files.read(path, input_files.FINDING))


def parsed(path: Path, data: bytes) -> Document:
    """The finding in a file that was read. Raises `UsageError`."""
    if not data.strip():
        raise UsageError(f"{path}: is empty, so no finding")
    try:
        found = msgspec.json.decode(data, type=Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        check_kind(path, data, Kind.FINDING)
        raise UsageError(f"{path}: no finding: {document_error(error, data, Document)}") from None
    if found.format != FORMAT:
        raise UsageError(f"{path}: no finding: its format is {found.format[:40]!r}")
    return found
