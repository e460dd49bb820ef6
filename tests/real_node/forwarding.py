"""A way to a node that a test can cut: connections at another address are forwarded to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from channelsim.channel.errors import UsageError

MOST_CONNECTIONS = 128
"""Connections at a time; more are closed at once."""

IDLE_TIME = 120.0
"""Seconds without a byte in one direction after which a connection is closed."""

CHUNK = 1 << 16
"""Bytes that are held of one direction of a connection."""


@asynccontextmanager
async def forwarding(address: tuple[str, int], port: int) -> AsyncIterator[tuple[str, int]]:
    """Forward connections at this address to a local port; yields the address as it is bound.

    Raises `UsageError` for an address that cannot be used.
    """
    connections: set[asyncio.Task[None]] = set()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _join(reader, writer, port)
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(connections) >= MOST_CONNECTIONS:
            writer.close()
            return
        task = asyncio.ensure_future(forward(reader, writer))
        connections.add(task)
        task.add_done_callback(connections.discard)

    try:
        server = await asyncio.start_server(accept, *address, limit=CHUNK)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not an address of this machine"
        raise UsageError(f"--listen {address[0]}:{address[1]}: {reason}") from None
    async with server:
        host, bound = server.sockets[0].getsockname()[:2]
        try:
            yield host, bound
        finally:
            for task in connections:
                task.cancel()
            await asyncio.gather(*connections, return_exceptions=True)


async def _join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    """Copy bytes both ways, until one side ends or falls silent."""
    with suppress(OSError, TimeoutError):
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port, limit=CHUNK)
        try:
            copies = [
                asyncio.ensure_future(_copy(reader, to_writer)),
                asyncio.ensure_future(_copy(to_reader, writer)),
            ]
            try:
                await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for copy in copies:
                    copy.cancel()
                await asyncio.gather(*copies, return_exceptions=True)
        finally:
            to_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    # `wait_for` may lose a cancellation in Python 3.11; `timeout` does not.
    while True:
        async with asyncio.timeout(IDLE_TIME):
            data = await reader.read(CHUNK)
            if not data:
                return
            writer.write(data)
            await writer.drain()
