"""Read files that a user names: plain files of a bounded size, as a whole or line by line.

Devices, named pipes, sockets and folders are refused before a byte is read: a device may never
end, and a named pipe may never start. A pipe that the shell has opened (`<(…)`,
`/dev/stdin`) is read up to the limit.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from channelsim.channel.errors import UsageError

KB, MB = 1 << 10, 1 << 20

TOML = MB
"""Targets, scripts and snapshots of costs."""

SOURCE = MB
"""A Chialisp source or include."""

HEX = 4 * MB
"""A program in hex: no block takes one of more than 1 MB."""

FINDING = 16 * MB
"""A finding."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark with which some editors begin a text."""

LINES = 256 * MB
"""Conformance cases and transcripts, all lines of a file."""

_OPENED = re.compile(r"/dev/stdin|/dev/fd/\d+|/proc/self/fd/\d+")


LONGEST_LINE = 64 * MB
"""The longest line of a file that is read line by line."""


def read(path: Path, most: int) -> bytes:
    """A file's bytes, at most `most`. Raises `UsageError`, naming the file."""
    with opened(path, most) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise UsageError(f"{path}: too large, more than {size_text(most)}")
    if data.startswith(BOM) and data[len(BOM) :].lstrip()[:1] in (b"{", b"["):
        raise UsageError(
            f"{path}: begins with a byte order mark, which JSON does not have; save it as UTF-8"
            " without one"
        )
    return data


def complete_lines(path: Path, most: int) -> Iterator[bytes]:
    """The lines of a file without line ends, one by one; not what comes behind the last line end.

    Raises `UsageError`, naming the file, and the line if one is longer than `LONGEST_LINE`.
    """
    number = 0
    with opened(path, most) as file:
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise UsageError(f"{path}: line {number}: longer than {size_text(LONGEST_LINE)}")
            if line.endswith(b"\n"):
                yield line[:-1].removesuffix(b"\r")


@contextmanager
def opened(path: Path, most: int) -> Iterator[BinaryIO]:
    """Open a file to be read in this block. Raises `UsageError`, naming the file."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY
    shells = _OPENED.fullmatch(str(path)) is not None
    try:
        # A named pipe without a writer would hold up a blocking `open` for ever.
        descriptor = os.open(path, flags if shells else flags | os.O_NONBLOCK)
        try:
            _check_plain(path, descriptor, shells, most)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                yield file
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError:  # a NUL byte in the name
        raise UsageError(f"{str(path)!a}: no name of a file") from None


def _check_plain(path: Path, file: int, shells: bool, most: int) -> None:
    """Refuse an open file of another kind, or of more than `most` bytes as far as is known."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) and not (shells and stat.S_ISFIFO(status.st_mode)):
        raise UsageError(f"{path}: {_kind(status.st_mode)}, not a file")
    if status.st_size > most:
        raise UsageError(f"{path}: too large, more than {size_text(most)}")


def read_text(path: Path, most: int) -> str:
    """The text of a file. Raises `UsageError`, naming the file and the place of bad bytes."""
    return decoded(path, read(path, most))


def decoded(path: Path, data: bytes) -> str:
    """Decode the content of a file. Raises `UsageError`, naming line and column."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = place(data[: error.start].decode("utf-8", "replace"), None)
        raise UsageError(f"{path}: {where}: not a text file (not UTF-8)") from None
    if "\0" in text:
        where = place(text, text.index("\0"))
        raise UsageError(f"{path}: {where}: not a text file (a NUL byte)")
    return text


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a file without line ends; a final line end does not begin another line.

    >>> lines_of(b"a\\r\\n\\nb\\n")
    [b'a', b'', b'b']
    """
    lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    if not lines[-1]:
        lines.pop()
    return lines


def place(text: str, at: int | None) -> str:
    """Line and column, from 1, of an index of a text; None is the end of the text.

    >>> place("one\\ntwo", 5)
    'line 2, column 2'
    """
    before = text if at is None else text[:at]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def is_missing(path: Path) -> bool:
    """True if no file or folder has this name."""
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")


def size_text(limit: int) -> str:
    """A limit on bytes, for people."""
    return f"{limit // MB} MB" if limit >= MB else f"{limit // KB} kB"
