"""Compiled programs on disk, each under a digest of everything that it was compiled from.

The folder is `$XDG_CACHE_HOME/channelsim/compiled`, or `~/.cache/channelsim/compiled`; a relative
`XDG_CACHE_HOME` is ignored. Only what this user wrote, and nobody else can write, is read; a
damaged file is compiled anew. Where nothing can be read or written, compiling takes longer and
nothing else changes.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from channelsim.clsp.programs import Program

LARGEST = 32 << 20
"""The most bytes of a file that is read."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class _Stored(msgspec.Struct, frozen=True):
    program: str
    symbols: dict[str, str]


def read(key: str) -> Program | None:
    """The program under this key, with its symbols; None where it has to be compiled."""
    try:
        folder = _folder()
        _check_owner(folder.lstat(), stat.S_ISDIR)
        data = _read_own(folder / key)
        digest, payload = data[:32], data[32:]
        if digest != _digest(key, payload):
            return None
        stored = msgspec.json.decode(payload, type=_Stored)
        return Program(bytes.fromhex(stored.program), stored.symbols)
    except (OSError, RuntimeError, ValueError):  # RuntimeError: nobody knows a home directory
        return None


def write(key: str, program: Program) -> None:
    """Store a program as a whole or not at all."""
    payload = msgspec.json.encode(_Stored(program.serialized.hex(), dict(program.symbols)))
    with suppress(OSError, RuntimeError):
        folder = _folder()
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        _check_owner(folder.lstat(), stat.S_ISDIR)
        descriptor, half = tempfile.mkstemp(prefix=".", dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_digest(key, payload) + payload)
            os.replace(half, folder / key)
        except BaseException:
            os.unlink(half)
            raise


def _folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative path is invalid, by the specification of base directories.
    return (base if base.is_absolute() else Path.home() / ".cache") / "channelsim" / "compiled"


def _digest(key: str, payload: bytes) -> bytes:
    return sha256(key.encode() + payload).digest()


def _read_own(path: Path) -> bytes:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(os.open(path, flags), "rb") as file:
        _check_owner(os.fstat(file.fileno()), stat.S_ISREG)
        return file.read(LARGEST)


def _check_owner(status: os.stat_result, is_kind: Callable[[int], bool]) -> None:
    """Check that it is of this kind and this user's, and that nobody else can write it.

    Raises `PermissionError`.
    """
    if (
        not is_kind(status.st_mode)
        or status.st_uid != os.geteuid()
        or status.st_mode & _OTHERS_WRITE
    ):
        raise PermissionError
