"""Changes of files between two looks, by their contents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.system import input_files

LARGEST = 16 << 20
"""Bytes; a larger file has changed if its size or its time of change has."""

_Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of some files: when each was changed and its size, and the digest of its content.

    A file that is missing, or cannot be read, has an empty digest.
    """

    stamps: Mapping[Path, _Stamp]
    digests: Mapping[Path, bytes]

    def changed(self, now: Snapshot) -> list[Path]:
        """The files that have another content now, that are new, or gone."""
        paths = dict.fromkeys((*self.digests, *now.digests))
        return [path for path in paths if self.digests.get(path, b"") != now.digests.get(path, b"")]


def snapshot(paths: Iterable[Path], before: Snapshot | None = None) -> Snapshot:
    """The state of these files; the content of a file that looks as `before` is not read again."""
    stamps: dict[Path, _Stamp] = {}
    digests: dict[Path, bytes] = {}
    for path in paths:
        try:
            status = os.stat(path)
            stamp = status.st_mtime_ns, status.st_size
        except (OSError, ValueError):
            digests[path] = b""
            continue
        known = before is not None and before.stamps.get(path) == stamp
        stamps[path] = stamp
        digests[path] = before.digests[path] if known and before else _digest(path, stamp)
    return Snapshot(stamps, digests)


def _digest(path: Path, stamp: _Stamp) -> bytes:
    if stamp[1] > LARGEST:
        return repr(stamp).encode()
    try:
        return sha256(input_files.read(path, LARGEST)).digest()
    except UsageError:
        return b""
