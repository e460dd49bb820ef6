"""The log of an embedded node: what was done to it, so that a new node can be made the same.

The node is deterministic, so its changes are done again one by one. A file of an older version
("chain 1") has no settings: its node had those of public networks; one of "chain 2" has no reverts.
If that version took a bundle that no mempool takes today, the file cannot be continued.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from channelsim.channel.chain.simulator import (
    PUBLIC_LIKE,
    Change,
    Farmed,
    NodeSettings,
    SimulatedChain,
)
from channelsim.channel.errors import UsageError
from channelsim.channel.system.input_files import LINES
from channelsim.channel.system.line_log import LineLog

FORMAT = "channelsim chain 3"
OLD_FORMATS = ("channelsim chain 1", "channelsim chain 2")


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    seed: int
    settings: NodeSettings = PUBLIC_LIKE


_decoder = msgspec.json.Decoder(Change)


@contextmanager
def stored_chain(
    path: Path, seed: int, settings: NodeSettings = PUBLIC_LIKE
) -> Iterator[SimulatedChain]:
    """An embedded node that goes on where this file ends; every change is added to it.

    A file that is missing is made. Raises `UsageError` for one that is damaged, is not ours, is in
    use, or has the chain of another seed or of other settings; it stays as it is.
    """
    header = _Header(FORMAT, seed, settings)
    log = LineLog(path, msgspec.json.encode(header), LINES)
    try:
        _check_header(path, log.first, header)
        chain = SimulatedChain(seed, settings)
        for number, line in enumerate(log.lines(), 2):
            try:
                chain.repeat(_decoder.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UsageError) as error:
                reason = ascii(f"{error}"[:200])[1:-1]
                raise UsageError(f"{path}: line {number}: damaged ({reason})") from None
        chain.record = _Recorder(log)
        yield chain
    finally:
        log.close()


class _Recorder:
    """Appends changes to a log; after a failure none, or the log would lack one in the middle."""

    def __init__(self, log: LineLog) -> None:
        self._log = log
        self._failed: UsageError | None = None

    def __call__(self, change: Change) -> None:
        if self._failed is not None:
            raise self._failed
        try:
            self._log.append([msgspec.json.encode(change)], sync=not isinstance(change, Farmed))
        except UsageError as error:
            self._failed = error
            raise


def _check_header(path: Path, first: bytes, wanted: _Header) -> None:
    try:
        header = msgspec.json.decode(first, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError(f"{path}: not a chain file of channelsim; name another file") from None
    if header.format not in (FORMAT, *OLD_FORMATS):
        raise UsageError(
            f"{path}: not written by this version of channelsim, but as {header.format[:60]!a}"
        )
    if header.seed != wanted.seed:
        raise UsageError(
            f"{path}: the chain has another seed; use the same --seed, or another file"
        )
    if header.settings != wanted.settings:
        raise UsageError(
            f"{path}: the chain has other limits or blocks; use the same --mix,"
            " --max-block-cost, --max-mempool-cost and --agg-sig-data, or another file"
        )
