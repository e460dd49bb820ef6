"""Files that commands write: checked before the work begins, and replaced as a whole at the end.

A regular file is written under a temporary name in the same folder and renamed when complete; the
old file stays until then. Special files (`/dev/stdout`, a FIFO) are written directly. `-` is the
standard output; the command's own messages then go to stderr.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from errno import EACCES
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.system.interrupt import held

STANDARD = frozenset(("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"))
"""Names of the standard output."""

OPEN = ("/dev/std", "/dev/fd/", "/proc/")
"""Folders of files that are open already, and of what is no file: these are never replaced."""


class Output:
    """A file that is being written; `finish` completes it. Failures are `UsageError`s."""

    def __init__(self, option: str, path: Path | None) -> None:
        self._option, self.path = option, path
        self.is_standard = path is not None and _is_standard(path)
        self._file: BinaryIO | None = None
        self._half: Path | None = None
        self._place: Path | None = None

    def open(self) -> None:
        """Begin to write. Raises `UsageError` where that is impossible."""
        if self.is_standard:
            sys.stdout.flush()
            self._file = sys.stdout.buffer
        elif self.path is not None:
            with _reported(self._option, self.path):
                self._open(self.path)

    @property
    def renamed(self) -> bool:
        """True if it is written under a temporary name that `finish` renames."""
        return self._half is not None

    def write(self, data: bytes) -> None:
        """Add some bytes; nowhere without a file."""
        if self._file is not None:
            with _reported(self._option, self.path):
                self._file.write(data)
                if not self.renamed:
                    self._file.flush()

    def finish(self) -> None:
        """Rename the complete file to its own name."""
        if self._place is not None:
            self._rename(self._place)

    def finish_beside(self, suffix: str) -> Path:
        """Rename the complete file to its name with this suffix instead, and return that path."""
        if self.path is None or self._place is None:
            raise InvariantError("only a renamed file can finish beside its place")
        there = self._place if self.path.is_symlink() else self.path
        beside = there.with_name(there.name + suffix)
        self._rename(beside)
        return beside

    def _rename(self, place: Path) -> None:
        if self._file is not None and self._half is not None:
            with held(), _reported(self._option, self.path):
                self._file.flush()
                self._half.replace(place)
                self._half = None

    def _open(self, path: Path) -> None:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and stat.S_ISDIR(mode):
            raise UsageError(f"{self._option} {path}: cannot be written (it is a folder)")
        if mode is not None:
            if not stat.S_ISREG(mode) or str(path.absolute()).startswith(OPEN):
                self._file = path.open("wb")
                return
            if not os.access(path, os.W_OK):
                raise PermissionError(EACCES, os.strerror(EACCES))
        place = path.resolve()
        if not place.parent.is_dir():
            missing = f"no folder {place.parent}, so it cannot be written"
            raise UsageError(f"{self._option} {path}: {missing}")
        with held():
            self._begin(place, None if mode is None else stat.S_IMODE(mode))

    def _begin(self, place: Path, mode: int | None) -> None:
        """Open the temporary file."""
        half = place.with_name(f".channelsim-{token_hex(6)}.part")
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        self._file, self._half, self._place = os.fdopen(descriptor, "wb"), half, place
        if mode is not None:
            os.fchmod(descriptor, mode)

    def close(self) -> None:
        """Close the file, and delete a temporary one that was not finished."""
        if self.is_standard:
            return
        try:
            if self._file is not None:
                self._file.close()
        except OSError:
            pass  # it was reported, or the file was never finished
        if self._half is not None:
            self._half.unlink(missing_ok=True)


@contextmanager
def opened(option: str, path: Path | None) -> Iterator[Output]:
    """The file that an option names, nowhere for None. Unless it is finished in here, a regular
    file stays as it was. Raises `UsageError` at once where it cannot be written."""
    output = Output(option, path)
    try:
        output.open()
        with redirect_stdout(sys.stderr) if output.is_standard else nullcontext():
            yield output
    finally:
        output.close()


def write_whole(option: str, path: Path, data: bytes) -> None:
    """Write a file, whole or not at all. Raises `UsageError`."""
    with opened(option, path) as output:
        output.write(data)
        output.finish()


def check_folder(option: str, path: Path) -> None:
    """Check that a folder, which need not be there yet, takes new files. Raises `UsageError`."""
    with _reported(option, path):
        there = path.absolute()
        while not os.path.lexists(there) and there != there.parent:
            there = there.parent
        if not there.is_dir():
            what = "not a folder" if there == path.absolute() else f"{there} is not a folder"
            raise UsageError(f"{option} {path}: {what}")
        probe = there / f".channelsim-{token_hex(6)}.part"
        with held():
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            probe.unlink()


def _is_standard(path: Path) -> bool:
    """True if a path is the standard output, by name or because it is the same file."""
    if str(path) in STANDARD:
        return True
    try:
        theirs, ours = path.stat(), os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(theirs.st_mode) and os.path.samestat(theirs, ours)


@contextmanager
def _reported(option: str, path: Path | None) -> Iterator[None]:
    """Report file errors as one line, except that the reader of the standard output has left."""
    try:
        yield
    except BrokenPipeError:
        if str(path) in STANDARD:
            raise
        raise UsageError(f"{option} {path}: its reader has gone") from None
    except OSError as error:
        where = f"{option} {path}".strip()
        raise UsageError(f"{where}: cannot be written ({error.strerror})") from None
