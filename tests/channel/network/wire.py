"""Both ends of a link for tests, and strangers who connect to one."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from channelsim.channel.network.connection import DEFAULT, Connection, Limits
from channelsim.channel.network.identity import (
    NetworkIdentity,
    Pairing,
    make_identity,
    read_identity,
)
from channelsim.channel.network.link import Link, listen

GUARD = 30.0
"""Seconds after which a test has failed; it needs far less."""

HASTY = Limits(handshake=0.3, idle=0.3, keep_alive=0.1)

LONGEST = 300_000


@dataclass
class Ear:
    """The end of a link that notes what arrives."""

    longest: int = LONGEST
    heard: list[bytes] = field(default_factory=list)
    links: list[Connection] = field(default_factory=list)
    lost: int = 0
    answer: Callable[[bytes], bytes | None] = lambda message: None

    def longest_message(self) -> int:
        return self.longest

    async def connected(self, link: Connection) -> None:
        self.links.append(link)

    def received(self, message: bytes) -> None:
        self.heard.append(message)
        answer = self.answer(message)
        if answer is not None:
            self.links[-1].send(answer)

    async def ready(self) -> None:
        pass

    def disconnected(self, link: Connection) -> None:
        self.lost += 1

    def failed(self, error: BaseException) -> None:
        raise error


@dataclass
class Place:
    """A listening end: where it is, who may connect to it, and what it heard and said."""

    address: tuple[str, int]
    friend: Pairing
    stranger: Pairing
    ear: Ear
    lines: list[str]

    async def open(self, pairing: Pairing) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect by hand with TLS."""
        return await asyncio.open_connection(*self.address, ssl=pairing.context(server=False))


def identity(directory: Path, passphrase: bytes = b"") -> NetworkIdentity:
    make_identity(directory, passphrase)
    return read_identity(directory, passphrase)


def pairings(tmp_path: Path, limits: Limits = DEFAULT) -> tuple[Pairing, Pairing, Pairing]:
    """The listener, its counterparty, and a stranger who knows the listener's fingerprint."""
    here, there, other = (identity(tmp_path / name) for name in ("here", "there", "other"))
    return (
        Pairing(here, there.fingerprint, limits),
        Pairing(there, here.fingerprint, limits),
        Pairing(other, here.fingerprint, limits),
    )


@asynccontextmanager
async def place(
    tmp_path: Path, limits: Limits = DEFAULT, ear: Ear | None = None
) -> AsyncIterator[Place]:
    here, there, other = pairings(tmp_path, limits)
    ear, lines = ear or Ear(), list[str]()
    async with listen(Link(ear, lines.append), ("127.0.0.1", 0), here) as address:
        yield Place(address, there, other, ear, lines)


async def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + GUARD
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


async def ended(reader: asyncio.StreamReader) -> bool:
    """True if the other side ends the connection."""
    try:
        async with asyncio.timeout(GUARD):
            while await reader.read(1 << 16):
                pass
    except (OSError, ssl.SSLError):
        pass
    except TimeoutError:
        return False
    return True
