"""One authenticated connection: frames of length and bytes, with limits and keep-alive.

A frame is its length as four bytes, the highest first, and as many bytes. An empty frame keeps the
connection alive and means nothing. Source: spec/network.md, "Frames".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from channelsim.channel.protocol.messages import MAX_MESSAGE
from channelsim.games.amounts import counted

HEAD = 4
"""Bytes of a frame's length."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Times of a connection in seconds.

    `handshake`: for the TLS handshake and the first frame. `idle`: in which each whole frame has to
    come, and what we send has to be taken. `keep_alive`: from one empty frame of ours to the next.
    """

    handshake: float = 10.0
    idle: float = 60.0
    keep_alive: float = 15.0


DEFAULT = Limits()

MOST_UNSENT = 2 * MAX_MESSAGE
"""Bytes that wait to be sent; a counterparty that lets more gather loses the connection."""


class ConnectionLost(Exception):
    """The connection ended, for this reason: one line."""


class Connection:
    """A connection to the counterparty; `messages` reads it, `send` writes to it."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        limits: Limits = DEFAULT,
    ) -> None:
        self._reader, self._writer, self._limits = reader, writer, limits
        self._closed = asyncio.Event()

    @property
    def patience(self) -> float:
        """Seconds in which the first frame has to come."""
        return self._limits.handshake

    async def rest(self, seconds: float) -> None:
        """Wait before the connection begins, as long as it is not closed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    async def begin(self) -> None:
        """Exchange empty frames: then each side knows that the other accepts its key.

        Raises `ConnectionLost`.
        """
        self.send(b"")
        with self._reported():
            if await self._read(lambda: 0, self._limits.handshake):
                raise ConnectionLost("its first frame is not empty")

    def send(self, message: bytes) -> None:
        """Send a message; without effect once the connection is lost."""
        transport = self._writer.transport
        if self._closed.is_set() or transport.is_closing():
            return
        if transport.get_write_buffer_size() > MOST_UNSENT:
            self.close()
            return
        self._writer.write(len(message).to_bytes(HEAD, "big") + message)

    async def messages(self, longest: Callable[[], int]) -> AsyncIterator[bytes]:
        """Read messages; `longest` is asked for the most bytes of each before it is read.

        The next one is read when what the last one led to is sent. Raises `ConnectionLost`.
        """
        keeping = asyncio.ensure_future(self._keep_alive())
        try:
            with self._reported():
                while True:
                    message = await self._read(longest, self._limits.idle)
                    if message:
                        yield message
                        async with asyncio.timeout(self._limits.idle):
                            await self._writer.drain()
                    # A flood leaves room for everything else that this process does.
                    await asyncio.sleep(0)
        finally:
            keeping.cancel()
            self.close()

    def close(self) -> None:
        """End the connection at once, and drop what is not sent."""
        if not self._closed.is_set():
            self._closed.set()
            self._writer.transport.abort()

    async def close_gently(self) -> None:
        """End the connection once everything is sent, in bounded time."""
        try:
            async with asyncio.timeout(self._limits.handshake):
                self._writer.close()
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            pass
        self.close()

    async def _read(self, longest: Callable[[], int], seconds: float) -> bytes:
        async with asyncio.timeout(seconds):
            length = int.from_bytes(await self._reader.readexactly(HEAD), "big")
            most = min(MAX_MESSAGE, longest())
            if length > most:
                raise ConnectionLost(f"a frame of {counted(length, 'byte')}; at most {most:,} now")
            message = await self._reader.readexactly(length)
        if self._closed.is_set():
            # What an older connection still holds must not be mixed with a newer one's.
            raise ConnectionLost("it was closed")
        return message

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except asyncio.IncompleteReadError:
            raise ConnectionLost("the other side closed it") from None
        except TimeoutError:
            raise ConnectionLost("the other side is silent, or takes nothing") from None
        except OSError as error:
            raise ConnectionLost(f"it broke ({error.strerror or 'no reason given'})") from None

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(self._limits.keep_alive)
            self.send(b"")
