"""The log of an embedded node: what was done to it, so that a new node can be made the same.

The node is deterministic but for the time of day, and has no file format that can be read again
(its own fails at random), so its changes are done again one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from channelsim.channel.chain.simulator import Change, Farmed, SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.system.input_files import LINES
from channelsim.channel.system.line_log import LineLog

FORMAT = "channelsim chain 1"


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    seed: int


_decoder = msgspec.json.Decoder(Change)


@contextmanager
def stored_chain(path: Path, seed: int) -> Iterator[SimulatedChain]:
    """An embedded node that goes on where this file ends; every change is added to it.

    A file that is missing is made. Raises `UsageError` for one that is damaged, is not ours, is in
    use, or has the chain of another seed; it stays as it is.
    """
    log = LineLog(path, msgspec.json.encode(_Header(FORMAT, seed)), LINES)
    try:
        _check_header(path, log.first, seed)
        chain = SimulatedChain(seed)
        for number, line in enumerate(log.lines(), 2):
            try:
                chain.repeat(_decoder.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UsageError) as error:
                reason = ascii(f"{error}"[:200])[1:-1]
                raise UsageError(f"{path}: line {number}: damaged ({reason})") from None
        chain.record = lambda change: log.append(
            [msgspec.json.encode(change)], sync=not isinstance(change, Farmed)
        )
        yield chain
    finally:
        log.close()


def _check_header(path: Path, first: bytes, seed: int) -> None:
    try:
        header = msgspec.json.decode(first, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError(f"{path}: not a chain file of channelsim; name another file") from None
    if header.format != FORMAT:
        raise UsageError(
            f"{path}: not written by this version of channelsim, but as {header.format[:60]!a}"
        )
    if header.seed != seed:
        raise UsageError(
            f"{path}: the chain has another seed; use the same --seed, or another file"
        )
