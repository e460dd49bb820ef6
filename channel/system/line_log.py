"""Files of lines that are only added to, each line durable once it is there.

A process that is killed in between leaves at most an incomplete last line, which is ignored and
removed before the next one is added.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from channelsim.channel.errors import UsageError
from channelsim.channel.system.durable_files import sync_folder
from channelsim.channel.system.input_files import (
    LONGEST_LINE,
    complete_lines,
    opened,
    size_text,
)


class LogFull(UsageError):
    """More lines do not go into a file that is to be read again. Nothing was written."""


class LineLog:
    """A file of lines that one process holds.

    `first` is its first line, and `torn` is whether an incomplete one came behind the last one when
    it was opened.

    A file that is missing or empty gets this first line; nothing else is written before `append`.
    Raises `UsageError`, naming the file, also when it holds more than `most` bytes.
    """

    def __init__(self, path: Path, header: bytes, most: int) -> None:
        self._path, self._most = path, most
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            self._file = os.open(path, flags, 0o600)
        except OSError as error:
            raise _failed(path, error) from None
        try:
            self._lock()
            self._size = 0
            with opened(path, most) as file:
                begun = file.read(len(header) + 1)
            if header.startswith(begun):  # a process was killed before it could write it
                self.append([header])
                sync_folder(path.parent)
            with opened(path, most) as file:
                self._size, size = _end_of_lines(file), file.seek(0, os.SEEK_END)
            self.first = next(complete_lines(path, most), b"")
        except OSError as error:
            os.close(self._file)
            raise _failed(path, error) from None
        except BaseException:
            os.close(self._file)
            raise
        self.torn = size > self._size

    def lines(self) -> Iterator[bytes]:
        """The complete lines behind the first one, read one by one. Raises `UsageError`."""
        return islice(complete_lines(self._path, self._most), 1, None)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"{self._path}: another process uses it; name another one, or wait until it ends"
            ) from None

    def append(self, lines: Iterable[bytes], sync: bool = True) -> None:
        """Add lines, and (`sync`) wait for the disk.

        Raises `LogFull` for more bytes than are read again, or a line that is too long for that.
        """
        encoded = [line + b"\n" for line in lines]
        data = b"".join(encoded)
        if self._size + len(data) > self._most or max(map(len, encoded), default=0) > LONGEST_LINE:
            raise LogFull(
                f"{self._path}: full: no more than {size_text(self._most)} are read again"
            )
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


def _end_of_lines(file: BinaryIO) -> int:
    """The size of a file up to its last line end, which is looked for from its end."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        at = file.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


_BLOCK = 1 << 16


def _failed(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be written ({(error.strerror or f'{error}').lower()})")
