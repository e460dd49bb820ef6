"""Accepting connections: only those of the counterparty's key, and few at a time before that.

Strangers cannot be told from the counterparty before the handshake. So at most a few handshakes go
on at once, each for a bounded time, and a new one takes the place of the oldest: the counterparty,
which needs milliseconds for its own, gets through a crowd that holds its connections open. And they
are accepted at a bounded rate, so that whoever connects in a loop takes little of the processor.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from channelsim.channel.errors import UsageError
from channelsim.channel.network.connection import Connection
from channelsim.channel.network.identity import Pairing

MOST_HANDSHAKES = 64
"""Handshakes at a time."""

BACKLOG = 128
"""Connections that the system holds until they are accepted."""

PACE = 0.01
"""Seconds from one accepted connection to the next."""

PAUSE = 0.1
"""Seconds until the next connection is accepted when the system has no resources for one."""

Serving = Callable[[Connection], Awaitable[None]]
"""Serves an authenticated connection until it ends."""


@asynccontextmanager
async def listening(
    address: tuple[str, int], pairing: Pairing, serve: Serving
) -> AsyncIterator[tuple[str, int]]:
    """Serve the counterparty's connections at this address; yields the address as it is bound.

    Raises `UsageError` for an address that cannot be used, and whatever keeps it from accepting
    connections later.
    """
    listener, owner = _bound(address), asyncio.current_task()

    def stop(accepting: asyncio.Task[None]) -> None:
        if owner is not None and not accepting.cancelled():
            owner.cancel()

    accepting = asyncio.ensure_future(_accept(listener, pairing, serve))
    accepting.add_done_callback(stop)
    try:
        host, port = listener.getsockname()[:2]
        yield host, port
    finally:
        accepting.cancel()
        await asyncio.gather(accepting, return_exceptions=True)
        listener.close()
        if not accepting.cancelled():
            accepting.result()


def _bound(address: tuple[str, int]) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        listener = socket.create_server(address, family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not an address of this machine"
        raise UsageError(f"{address[0]}:{address[1]}: cannot listen there: {reason}") from None
    listener.setblocking(False)
    return listener


async def _accept(listener: socket.socket, pairing: Pairing, serve: Serving) -> None:
    loop, context = asyncio.get_running_loop(), pairing.context(server=True)
    handshakes: deque[asyncio.Task[Connection | None]] = deque()
    tasks: set[asyncio.Task[None]] = set()

    async def take(sock: socket.socket) -> None:
        handshake = asyncio.ensure_future(_handshake(sock, context, pairing))
        handshakes.append(handshake)
        try:
            connection = await handshake
        except asyncio.CancelledError:
            return
        finally:
            if handshake in handshakes:
                handshakes.remove(handshake)
        if connection is not None:
            await serve(connection)

    try:
        while True:
            try:
                sock, _ = await loop.sock_accept(listener)
            except OSError:
                await asyncio.sleep(PAUSE)
                continue
            if len(handshakes) >= MOST_HANDSHAKES:
                handshakes.popleft().cancel()
            task = asyncio.ensure_future(take(sock))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            await asyncio.sleep(PACE)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _handshake(
    sock: socket.socket, context: ssl.SSLContext, pairing: Pairing
) -> Connection | None:
    """Authenticate an accepted connection; None for a stranger's."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    try:
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol,
            sock,
            ssl=context,
            ssl_handshake_timeout=pairing.limits.handshake,
            ssl_shutdown_timeout=pairing.limits.handshake,
        )
    except OSError:
        sock.close()
        return None
    except BaseException:
        sock.close()
        raise
    connection = Connection(
        reader, asyncio.StreamWriter(transport, protocol, reader, loop), pairing.limits
    )
    if not pairing.is_with(transport):
        connection.close()
        return None
    return connection
