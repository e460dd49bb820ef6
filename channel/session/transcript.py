"""Transcripts: all that happened in a session, a line each, so that it can be played again.

A line is `["<chain>", <record>]`: JSON, and the sha256 of the line's record behind the chain
of the line before, so that an altered byte is found in its own line. The **digest** of a
session is the sha256 of the whole file. The records are

    {"format": …, "setup": …}       the first line: everything that the session depends on
    {"decided": …} {"answered": …}  what players chose
    {"from": …} {"pushed": …} {"block": …}
    {"hand": …} {"closed": …} {"end": …}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from channel.errors import UsageError
from channel.session.result import Result
from channel.session.session_events import (
    Answered,
    BlockMade,
    Closed,
    Decided,
    HandEnded,
    Pushed,
    Sent,
    SessionEvent,
)
from channel.session.setup import Setup, check
from channel.system import input_files
from channel.system.file_kinds import Kind, check_kind
from games.names import printable

FORMAT = "channelsim transcript 2"
_START = bytes(32)
_LINE_HEAD = 68  # `["` + 64 hex digits + `",`

Record = dict[str, Any]
Sink = Callable[[bytes], None]


class Lines:
    """Writes records as the lines of a transcript, and keeps the digest of them all."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._chain = _START
        self._digest = sha256()

    def write(self, record: Record) -> None:
        """Add a line."""
        body = msgspec.json.encode(record)
        self._chain = _next(self._chain, body)
        line = _line(self._chain, body)
        self._digest.update(line)
        self._sink(line)

    def digest(self) -> str:
        """The sha256 of all lines so far, in hex."""
        return self._digest.hexdigest()


class Recorder:
    """A listener that turns what it hears into lines, and keeps the digest."""

    def __init__(self, setup: Setup, sink: Sink) -> None:
        self._lines = Lines(sink)
        self._lines.write({"format": FORMAT, "setup": msgspec.to_builtins(setup)})

    def __call__(self, told: SessionEvent) -> None:
        """Record what belongs into a transcript."""
        record = record_of(told)
        if record is not None:
            self._lines.write(record)

    def finish(self, result: Result) -> str:
        """Write the last line; the digest, in hex, of the whole transcript."""
        checks = result.checks
        self._lines.write(
            {
                "end": {
                    "balances": list(result.balances),
                    "moves_checked": checks.moves_checked,
                    "python_clvm_agree": checks.python_clvm_agree,
                    "conserved": checks.conserved,
                }
            }
        )
        return self._lines.digest()


def _next(chain: bytes, body: bytes) -> bytes:
    return sha256(chain + body).digest()


def _line(chain: bytes, body: bytes) -> bytes:
    return b'["' + chain.hex().encode() + b'",' + body + b"]\n"


def record_of(told: SessionEvent) -> Record | None:
    """What a transcript says of something that was told; None for what it leaves out."""
    match told:
        case Sent(sender, message):
            return {"from": sender, "message": message.hex()}
        case Pushed(by, what, bundle, result):
            name = sha256(msgspec.msgpack.encode(bundle)).hexdigest()
            return {"pushed": what, "by": by, "bundle": name, "answer": result.answer.value}
        case BlockMade(height):
            return {"block": height}
        case Decided(player, game_id, action):
            return {
                "decided": player,
                "game": game_id,
                "verb": action.verb,
                "amount": action.amount,
            }
        case Answered(player, number, accepts):
            return {"answered": player, "hand": number, "accepts": accepts}
        case HandEnded(number, game, hand, balances):
            payouts = dict(zip(hand.names, hand.payouts or (), strict=False))
            return {"hand": number, "game": game, "payouts": payouts, "balances": list(balances)}
        case Closed(rewards, height):
            coins = [(coin.id.hex(), coin.amount) if coin else None for coin in rewards]
            return {"closed": height, "rewards": coins}
        case _:
            return None


# --- reading -----------------------------------------------------------------------------------


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    setup: Setup


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript that is unbroken: its setup, its lines as bytes, and its records."""

    path: Path
    setup: Setup
    lines: tuple[bytes, ...]
    records: tuple[Record, ...]

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return sha256(b"".join(self.lines)).hexdigest()


def read(path: Path) -> Transcript:
    """The transcript in a file. Raises `UsageError`, naming the line that is wrong."""
    return of_lines(path, *unbroken(path, input_files.read(path, input_files.LINES)))


def of_lines(path: Path, lines: tuple[bytes, ...], records: tuple[Record, ...]) -> Transcript:
    """The transcript in a file that was read. Raises `UsageError`."""
    return Transcript(path, _setup(path, records[0]), lines, records)


def unbroken(path: Path, data: bytes) -> tuple[tuple[bytes, ...], tuple[Record, ...]]:
    """The lines of a transcript of any format, and their records. Raises `UsageError`."""
    if not data.strip():
        raise UsageError(f"{path}: is empty, so no transcript")
    check_kind(path, data, Kind.TRANSCRIPT)
    lines = data.splitlines(keepends=True)
    records = []
    chain = _START
    for number, line in enumerate(lines, 1):
        where = f"{path}: line {number}"
        if not (line.startswith(b'["') and line.endswith(b"]\n") and len(line) > _LINE_HEAD + 2):
            raise UsageError(f"{where}: not a line of a transcript")
        body = line[_LINE_HEAD:-2]
        chain = _next(chain, body)
        if line != _line(chain, body):
            raise UsageError(f"{where}: altered: it does not fit the chain of the lines before it")
        try:
            records.append(msgspec.json.decode(body, type=Record))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            reason = printable(str(error))
            raise UsageError(f"{where}: not a JSON record ({reason})") from None
    if "end" not in records[-1]:
        raise UsageError(f"{path}: line {len(lines)}: the transcript breaks off here")
    return tuple(lines), tuple(records)


def _setup(path: Path, first: Record) -> Setup:
    try:
        header = msgspec.convert(first, _Header)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{path}: line 1: not the head of a transcript: {printable(str(error))}"
        ) from None
    if header.format != FORMAT:
        raise UsageError(f"{path}: line 1: its format is {header.format!r}, not {FORMAT!r}")
    try:
        return check(header.setup)
    except UsageError as error:
        raise UsageError(f"{path}: line 1: {error}") from None


class Comparer:
    """A sink that holds the lines of a session played again against those of a transcript."""

    def __init__(self, path: Path, lines: tuple[bytes, ...]) -> None:
        self._path = path
        self._lines = lines
        self._next = 0

    def __call__(self, line: bytes) -> None:
        """Take the next line. Raises `UsageError` where the session goes another way."""
        number = self._next + 1
        lines = self._lines
        if self._next >= len(lines) or lines[self._next] != line:
            theirs = "nothing" if self._next >= len(lines) else _brief(lines[self._next])
            raise UsageError(
                f"{self._path}: line {number}: the session does not go this way:"
                f" recorded {theirs}, played {_brief(line)}"
            )
        self._next = number

    def finish(self) -> None:
        """Raises `UsageError` when the transcript has lines that the session has not."""
        if self._next < len(self._lines):
            raise UsageError(f"{self._path}: line {self._next + 1}: the session ended before this")


def _brief(line: bytes) -> str:
    body = line[_LINE_HEAD:-2].decode(errors="replace")
    return body if len(body) <= 80 else body[:77] + "…"


def choices_of(transcript: Transcript, player: str) -> Iterator[Record]:
    """What a player decided and answered, in order."""
    for record in transcript.records:
        if player in (record.get("decided"), record.get("answered")):
            yield record
