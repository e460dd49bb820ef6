"""Files of lines that are only added to, each line durable once it is there.

A process that is killed in between leaves at most an incomplete last line, which is ignored and
removed before the next one is added.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.system.durable_files import sync_folder
from channelsim.channel.system.input_files import lines_of, read


class LineLog:
    """A file of lines that one process holds. `lines` are those that it had when it was opened;
    `torn` is whether an incomplete one came behind them.

    A file that is missing or empty gets this first line; nothing else is written before `append`.
    Raises `UsageError`, naming the file, also when it holds more than `most` bytes.
    """

    def __init__(self, path: Path, header: bytes, most: int) -> None:
        self._path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            self._file = os.open(path, flags, 0o600)
        except OSError as error:
            raise _failed(path, error) from None
        try:
            self._lock()
            data = read(path, most)
            self._size = 0
            if header.startswith(data):  # a process was killed before it could write it
                self.append([header])
                sync_folder(path.parent)
                data = header + b"\n"
        except OSError as error:
            os.close(self._file)
            raise _failed(path, error) from None
        except BaseException:
            os.close(self._file)
            raise
        complete, _, tail = data.rpartition(b"\n")
        self.torn = bool(tail)
        self.lines = tuple(lines_of(complete))
        self._size = len(complete) + 1

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{self._path}: another process uses it; name another file") from None

    def append(self, lines: Iterable[bytes], sync: bool = True) -> None:
        """Add lines, and (`sync`) wait for the disk."""
        data = b"".join(line + b"\n" for line in lines)
        try:
            if os.fstat(self._file).st_size != self._size:
                os.ftruncate(self._file, self._size)
            if os.write(self._file, data) != len(data):
                raise OSError(0, "no space left on device")
            if sync:
                os.fsync(self._file)
        except OSError as error:
            raise _failed(self._path, error) from None
        self._size += len(data)

    def close(self) -> None:
        """Close the file and let other processes use it."""
        os.close(self._file)


def _failed(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be written ({(error.strerror or f'{error}').lower()})")
