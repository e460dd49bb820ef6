"""Transcripts: one line for each event of a session, so that it can be replayed.

A line is `["<chain>", <record>]` in JSON. The chain is the sha256 of the previous line's chain
followed by the record, so that a changed byte is found in its own line. The **digest** of a session
is the sha256 of the whole file. The records are

    {"format": …, "setup": …}       the first line: everything that the session depends on
    {"decided": …} {"answered": …}  the choices of the players
    {"chose": …}                    the game that a dealer names
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

from channelsim.channel.chain.spacing import HOME_SPACING
from channelsim.channel.errors import UsageError
from channelsim.channel.session.result import Result
from channelsim.channel.session.session_events import (
    Answered,
    BlockMade,
    Chosen,
    Closed,
    Decided,
    HandEnded,
    Pushed,
    Sent,
    SessionEvent,
)
from channelsim.channel.session.setup import Setup, check
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind
from channelsim.games.names import printable

FORMAT = "channelsim transcript 2"
_START = bytes(32)
_LINE_HEAD = 68  # `["` + 64 hex digits + `",`

Record = dict[str, Any]
Sink = Callable[[bytes], None]


class Lines:
    """Writes records as the lines of a transcript, and digests them."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._chain = _START
        self._digest = sha256()

    def write(self, record: Record) -> None:
        """Write one record as a line."""
        body = msgspec.json.encode(record)
        self._chain = _next(self._chain, body)
        line = _line(self._chain, body)
        self._digest.update(line)
        self._sink(line)

    def digest(self) -> str:
        """Return the sha256 of all lines so far, in hex."""
        return self._digest.hexdigest()


class Recorder:
    """A listener that writes a session's transcript."""

    def __init__(self, setup: Setup, sink: Sink) -> None:
        self._lines = Lines(sink)
        self._lines.write({"format": FORMAT, "setup": _written(setup)})

    def __call__(self, event: SessionEvent) -> None:
        """Record one event, if transcripts have it."""
        record = record_of(event)
        if record is not None:
            self._lines.write(record)

    def finish(self, result: Result) -> str:
        """Write the last line; returns the digest of the whole transcript, in hex."""
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


def _written(setup: Setup) -> Record:
    """A setup as JSON data; older transcripts do not have its optional settings."""
    record: Record = msgspec.to_builtins(setup)
    optional: dict[str, object] = {"mixed": False, "spacing": HOME_SPACING}
    optional |= dict.fromkeys(("rotation", "limit", "max_fee", "max_fees"))
    for name, usual in optional.items():
        if record[name] == usual:
            del record[name]
    return record


def _next(chain: bytes, body: bytes) -> bytes:
    return sha256(chain + body).digest()


def _line(chain: bytes, body: bytes) -> bytes:
    return b'["' + chain.hex().encode() + b'",' + body + b"]\n"


def record_of(event: SessionEvent) -> Record | None:
    """Make the record of an event; None for events that transcripts leave out."""
    match event:
        case Sent(sender, message):
            return {"from": sender, "message": message.hex()}
        case Pushed(by, name, bundle, result):
            digest = sha256(msgspec.msgpack.encode(bundle)).hexdigest()
            return {"pushed": name, "by": by, "bundle": digest, "answer": result.answer.value}
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
        case Chosen(player, number, named, limit):
            return {"chose": player, "hand": number, "game": named, "limit": limit}
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
    """A complete transcript: its setup, its lines as bytes, and its records."""

    path: Path
    setup: Setup
    lines: tuple[bytes, ...]
    records: tuple[Record, ...]

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return sha256(b"".join(self.lines)).hexdigest()


def read(path: Path) -> Transcript:
    """Read the transcript in a file. Raises `UsageError`, naming the line that is wrong."""
    return of_lines(path, *unbroken(path, input_files.read(path, input_files.LINES)))


def of_lines(path: Path, lines: tuple[bytes, ...], records: tuple[Record, ...]) -> Transcript:
    """Make a transcript of the lines of a file and their records. Raises `UsageError`."""
    return Transcript(path, _setup(path, records[0]), lines, records)


def unbroken(path: Path, data: bytes) -> tuple[tuple[bytes, ...], tuple[Record, ...]]:
    """Check the chain of a transcript of any format. Raises `UsageError`.

    Returns its lines and their records.
    """
    if not data.strip():
        raise UsageError(f"{path}: is empty: not a transcript")
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
        raise UsageError(f"{path}: line {len(lines)}: the transcript is cut off here")
    return tuple(lines), tuple(records)


def _setup(path: Path, first: Record) -> Setup:
    # Before the other keys, which another format need not have.
    found = first.get("format", FORMAT)
    if found != FORMAT:
        raise UsageError(f"{path}: line 1: its format is {str(found)[:60]!r}, not {FORMAT!r}")
    try:
        header = msgspec.convert(first, _Header)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{path}: line 1: not the head of a transcript: {printable(str(error))}"
        ) from None
    try:
        return check(header.setup)
    except UsageError as error:
        raise UsageError(f"{path}: line 1: {error}") from None


class Comparer:
    """A sink that compares the lines of a replay with those of a transcript."""

    def __init__(self, path: Path, lines: tuple[bytes, ...]) -> None:
        self._path = path
        self._lines = lines
        self._next = 0

    def __call__(self, line: bytes) -> None:
        """Compare the next line. Raises `UsageError` where the replay differs."""
        number = self._next + 1
        lines = self._lines
        if self._next >= len(lines) or lines[self._next] != line:
            recorded = "nothing" if self._next >= len(lines) else _brief(lines[self._next])
            raise UsageError(
                f"{self._path}: line {number}: the session went differently: recorded {recorded},"
                f" played {_brief(line)}"
            )
        self._next = number

    def finish(self) -> None:
        """Raise `UsageError` if the transcript has more lines than the replay."""
        if self._next < len(self._lines):
            raise UsageError(f"{self._path}: line {self._next + 1}: the session ended before this")


def _brief(line: bytes) -> str:
    body = line[_LINE_HEAD:-2].decode(errors="replace")
    return body if len(body) <= 80 else body[:77] + "…"


def choices_of(transcript: Transcript, player: str) -> Iterator[Record]:
    """Find the decisions and answers of a player, in order."""
    for record in transcript.records:
        if player in map(record.get, ("decided", "answered", "chose")):
            yield record
