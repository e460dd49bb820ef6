"""The link of one channel to its counterparty: one connection at a time, made again when it ends.

The listening side serves whoever proves the counterparty's key, and a newer connection takes the
place of the older one. The connecting side tries again after pauses that grow. Connections that
follow each other closely begin after growing pauses too, so that a counterparty that connects in a
loop costs little.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from typing import Protocol

from channelsim.channel.network.connection import Connection, ConnectionLost
from channelsim.channel.network.identity import Pairing
from channelsim.channel.network.listener import listening
from channelsim.channel.system.interrupt import INTERRUPTS
from channelsim.games.chance import Chance

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
"""Seconds before the second attempt to connect, and the most between two."""

LASTING = 5.0
"""Seconds that a connection lasts to count as one: shorter ones do not reset the pauses."""

CALM = 30.0
"""Seconds between two connections of which the second one need not wait."""


class End(Protocol):
    """The end of a link: what takes the messages of one channel."""

    def longest_message(self) -> int:
        """The most bytes that a message can have now."""
        ...

    async def connected(self, link: Connection) -> None:
        """Use a new connection from now on."""
        ...

    def received(self, message: bytes) -> None:
        """Take a message."""
        ...

    async def ready(self) -> None:
        """Return once the next message may come."""
        ...

    def disconnected(self, link: Connection) -> None:
        """Forget a connection."""
        ...

    def failed(self, error: BaseException) -> None:
        """Take an unexpected error of a connection."""
        ...


Tell = Callable[[str], None]
"""Takes a line for each change of the link's state."""


class Link:
    """The link of one channel. `tell` hears of its connections."""

    def __init__(self, end: End, tell: Tell = lambda line: None) -> None:
        self._end = end
        self._listener = tell
        self._last_line = ""
        self._beginning: Connection | None = None
        self._current: Connection | None = None
        self._used_at = -inf
        self._pause = FIRST_PAUSE

    def tell(self, line: str) -> None:
        """Report the state of the link, unless it is the one reported last."""
        if line != self._last_line:
            self._last_line = line
            self._listener(line)

    async def serve(self, connection: Connection) -> None:
        """Serve a connection until it ends or a newer one takes its place."""
        try:
            if await self._begun(connection):
                await self._use(connection)
        except (asyncio.CancelledError, *INTERRUPTS):
            raise
        except BaseException as error:
            self._end.failed(error)
        finally:
            connection.close()

    async def _begun(self, connection: Connection) -> bool:
        """Exchange the first frames; of several connections that do so only the newest one may."""
        if self._beginning is not None:
            self._beginning.close()
        self._beginning = connection
        try:
            await self._take_turn(connection)
            await connection.begin()
        except ConnectionLost as lost:
            if self._beginning is connection:
                self.tell(f"no connection: {lost}")
            return False
        finally:
            if self._beginning is connection:
                self._beginning = None
        return True

    async def _take_turn(self, connection: Connection) -> None:
        """Wait until the pause after the last connection is over."""
        left = self._used_at + self._pause - asyncio.get_running_loop().time()
        if left > 0:
            await connection.rest(left)

    def _count(self, connection: Connection) -> None:
        """Set the pause after this connection.

        It grows to half of the time in which the other side waits for our first frame.
        """
        now = asyncio.get_running_loop().time()
        calm = now - self._used_at >= CALM
        self._pause = FIRST_PAUSE if calm else min(2 * self._pause, connection.patience / 2)
        self._used_at = now

    async def _use(self, connection: Connection) -> None:
        if self._current is not None:
            self._current.close()
        self._current = connection
        self._count(connection)
        try:
            await self._end.connected(connection)
            self.tell("connected")
            async for message in connection.messages(self._end.longest_message):
                self._end.received(message)
                await self._end.ready()
        except ConnectionLost as lost:
            if self._current is connection:
                self.tell(f"the connection is lost: {lost}")
        finally:
            if self._current is connection:
                self._current = None
            self._end.disconnected(connection)

    async def close(self) -> None:
        """Send what waits to be sent, in bounded time, and end the connection."""
        if self._current is not None:
            await self._current.close_gently()


@asynccontextmanager
async def listen(
    link: Link, address: tuple[str, int], pairing: Pairing
) -> AsyncIterator[tuple[str, int]]:
    """Listen for the counterparty; yields the address as it is bound. Raises `UsageError`."""
    async with listening(address, pairing, link.serve) as bound:
        yield bound


async def connect(link: Link, address: tuple[str, int], pairing: Pairing, chance: Chance) -> None:
    """Connect to the counterparty, again and again, until this is cancelled."""
    context = pairing.context(server=False)
    await reconnecting(
        link, lambda: _open(address, context, pairing), f"{address[0]}:{address[1]}", chance
    )


async def reconnecting(
    link: Link, connected: Callable[[], Awaitable[Connection]], place: str, chance: Chance
) -> None:
    """Connect by `connected`, again and again, until this is cancelled.

    It raises `ConnectionLost` for an attempt that fails; `place` is what it connects to.
    """
    loop = asyncio.get_running_loop()
    pause = FIRST_PAUSE
    while True:
        begun = loop.time()
        try:
            connection = await connected()
        except ConnectionLost as lost:
            link.tell(f"no connection to {place}: {lost}; trying again")
        else:
            await link.serve(connection)
        if loop.time() - begun > LASTING:
            pause = FIRST_PAUSE
        await asyncio.sleep(jittered(pause, chance))
        pause = min(2 * pause, LONGEST_PAUSE)


def jittered(pause: float, chance: Chance) -> float:
    """A pause of between half of this and all of it, so that many peers do not come at once.

    >>> 5.0 <= jittered(10.0, Chance(b"seed")) <= 10.0
    True
    """
    return pause * (1000 + chance.below(1001)) / 2000


async def _open(address: tuple[str, int], context: ssl.SSLContext, pairing: Pairing) -> Connection:
    limits = pairing.limits
    try:
        async with asyncio.timeout(limits.handshake):
            reader, writer = await asyncio.open_connection(*address, ssl=context)
    except TimeoutError:
        raise ConnectionLost(f"no answer within {limits.handshake:g} s") from None
    except ssl.SSLError:
        raise ConnectionLost("the other side shows another key, or accepts no such key") from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "the address cannot be reached"
        raise ConnectionLost(reason.lower()) from None
    connection = Connection(reader, writer, limits)
    if not pairing.is_with(writer.transport):
        connection.close()
        raise ConnectionLost("the other side shows another key")
    return connection
