"""Findings in files: named, written, and read back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from shlex import quote

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import FORMAT, Finding
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind, format_of
from channelsim.channel.system.output import write_whole
from channelsim.games.decoding import document_error


class FindingFiles:
    """Writes findings into a folder, a file each; nothing without a folder. Files of others stay
    as they are."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._written: dict[Path, Finding] = {}

    def write(self, findings: Iterable[Finding]) -> list[Path]:
        """Write what is new or has changed; return the files of all. Raises `UsageError`.

        Of findings with one file the first is written. A count that grew alone changes nothing.
        """
        if self._folder is None:
            return []
        files: dict[Path, Finding] = {}
        for finding in findings:
            files.setdefault(self._folder / file_name(finding), finding)
        if files:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(
                    f"--out {self._folder}: cannot be written ({error.strerror})"
                ) from None
        for path, finding in files.items():
            written = self._written.get(path)
            if written is None or msgspec.structs.replace(written, times=finding.times) != finding:
                data = msgspec.json.format(msgspec.json.encode(finding), indent=2) + b"\n"
                write_whole("--out", path, data)
                self._written[path] = finding
        return list(files)

    def paths(self, findings: Iterable[Finding]) -> list[Path]:
        """The files of these findings; none without a folder."""
        folder = self._folder
        return [] if folder is None else [folder / file_name(finding) for finding in findings]

    def write_last(self, findings: Iterable[Finding]) -> list[Path]:
        """Write all findings of a search that is done, and remove other files of this one.

        Earlier files depend on the order in which the shards came.
        """
        earlier, self._written = self._written, {}
        paths = self.write(findings)
        for path in earlier.keys() - set(paths):
            path.unlink(missing_ok=True)
        return paths


def file_name(finding: Finding) -> str:
    """The name of a finding's file: the same for the same mistake.

    >>> file_name(Finding(rule="cost", place="end", severity="theft", text="Too dear", mistake="x"))
    'x-2d711642.json'
    """
    words = finding.mistake or f"{finding.place} {finding.rule} {finding.text}"
    key = finding.mistake or f"{finding.severity}\0{words}"
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return f"{slug[:60]}-{sha256(key.encode()).hexdigest()[:8]}.json"


def command_line(command: str, path: Path) -> str:
    """The line that runs a command on a finding's file, for a shell.

    >>> command_line("replay", Path("my night/findings/a.json"))
    "channelsim replay 'my night/findings/a.json'"
    """
    return f"channelsim {command} {quote(str(path))}"


def stored_findings(folder: Path) -> list[tuple[Path, Finding | UsageError]]:
    """Read the findings in a folder by name; for a bad file, the error instead."""
    stored: list[tuple[Path, Finding | UsageError]] = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            stored.append((path, load(path)))
        except UsageError as error:
            stored.append((path, error))
    return stored


def load(path: Path) -> Finding:
    """The finding in a file. Raises `UsageError`."""
    return parsed(path, input_files.read(path, input_files.FINDING))


def parsed(path: Path, data: bytes) -> Finding:
    """The finding in a file that was read. Raises `UsageError`."""
    if not data.strip():
        raise UsageError(f"{path}: is empty, so no finding")
    tag = format_of(data)
    if tag is not None and tag != FORMAT and "finding" in tag:
        raise UsageError(
            f"{path}: a finding of another version: its format is {tag[:60]!r}, not {FORMAT!r};"
            " run the command that found it again"
        )
    try:
        finding = msgspec.json.decode(data, type=Finding)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        check_kind(path, data, Kind.FINDING)
        raise UsageError(f"{path}: no finding: {document_error(error, data, Finding)}") from None
    if tag is None:
        raise UsageError(f"{path}: no finding: it has no `format`, which is {FORMAT!r}")
    return finding
