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

COMPILED = "compiled"
"""The kind of what is stored here: compiled programs. Other slow work has folders beside it."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class _Stored(msgspec.Struct, frozen=True):
    program: str
    symbols: dict[str, str]


def read(key: str) -> Program | None:
    """The program under this key, with its symbols; None where it has to be compiled."""
    payload = read_bytes(key)
    try:
        stored = msgspec.json.decode(payload or b"", type=_Stored)
        return Program(bytes.fromhex(stored.program), stored.symbols)
    except ValueError:
        return None


def write(key: str, program: Program) -> None:
    """Store a program as a whole or not at all."""
    write_bytes(key, msgspec.json.encode(_Stored(program.serialized.hex(), dict(program.symbols))))


def read_bytes(key: str, kind: str = COMPILED) -> bytes | None:
    """What is stored under this key among results of this kind; None if nothing sound is."""
    try:
        folder = _folder(kind)
        _check_owner(folder.lstat(), stat.S_ISDIR)
        data = _read_own(folder / key)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows a home directory
        return None
    digest, payload = data[:32], data[32:]
    return payload if digest == _digest(key, payload) else None


def write_bytes(key: str, payload: bytes, kind: str = COMPILED) -> None:
    """Store the result of work as a whole or not at all."""
    with suppress(OSError, RuntimeError):
        folder = _folder(kind)
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


def _folder(kind: str) -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # A relative path is invalid, by the specification of base directories.
    return (base if base.is_absolute() else Path.home() / ".cache") / "channelsim" / kind


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
