"""Faults in the link between two peers: its connections, its frames, and its pauses."""

from __future__ import annotations

import asyncio
from typing import Any

from channelsim.channel.attack import world
from channelsim.channel.network import connection as connections
from channelsim.channel.network import link as links
from channelsim.channel.network.connection import (
    HEAD,
    Connection,
    ConnectionLost,
    Limits,
)
from channelsim.channel.network.link import Link
from channelsim.channel.protocol.messages import MAX_MESSAGE
from channelsim.channel.session.peer_runner import PeerRunner
from scripts.tools.attack_faults.planting import (
    Fault,
    Reach,
    all_of,
    function,
    marking,
    value,
    where_it_fails,
)

# ruff: noqa: SLF001


async def _first_connection(right: Any, link: Any, connection: Any) -> None:
    if not hasattr(link, "served_before"):
        link.served_before = True
        await right(link, connection)
    connection.close()


async def _connects_once(right: Any, link: Any, connected: Any, place: Any, chance: Any) -> None:
    await link.serve(await connected())
    await asyncio.get_running_loop().create_future()


def _waiting_for_ever(right: Any, connection: Any, reader: Any, writer: Any) -> None:
    right(connection, reader, writer, Limits(idle=1e9))


def _without_keep_alive(right: Any, connection: Any, reader: Any, writer: Any) -> None:
    right(connection, reader, writer, Limits(keep_alive=1e9))


def _pausing_longer(right: Any, link: Any, connection: Any) -> None:
    right(link, connection)
    link._pause = 1e5


def _without_end(right: Any, link: Any) -> Any:
    async def closed() -> None:
        if link._current is not None:
            link._current.close()

    return closed()


def _no_loss(reach: Reach, right: Any, link: Any, line: str) -> None:
    if line.startswith(("the connection is lost", "no connection")):
        reach.mark()
        if not reach.probes:
            return
    right(link, line)


def _limit_of_the_beginning(reach: Reach, right: Any, connection: Any, longest: Any) -> Any:
    first = longest()

    def most() -> int:
        now = longest()
        if now < first:
            reach.mark()
        return int(now if reach.probes else first)

    return right(connection, most)


async def _hears_closed(
    reach: Reach, right: Any, connection: Any, longest: Any, seconds: float
) -> bytes:
    async with asyncio.timeout(seconds):
        length = int.from_bytes(await connection._reader.readexactly(HEAD), "big")
        most = min(MAX_MESSAGE, longest())
        if length > most:
            raise ConnectionLost(f"a frame of {length} bytes; at most {most:,} now")
        message: bytes = await connection._reader.readexactly(length)
    if connection._closed.is_set():
        if message:
            reach.mark()
        if reach.probes:
            raise ConnectionLost("it was closed")
    return message


async def _replaces_nothing(reach: Reach, right: Any, link: Any, connection: Any) -> None:
    if link._current is not None:
        reach.mark()
        if not reach.probes:
            link._current = None
    await right(link, connection)


LINK = (
    Fault(
        "serves-one-connection",
        "link",
        "a lost connection is never made again",
        function(Link, "serve", _first_connection),
    ),
    Fault(
        "connects-once",
        "link",
        "a connection that fails or ends is not tried again",
        all_of(
            function(world, "reconnecting", _connects_once),
            function(links, "reconnecting", _connects_once),
        ),
    ),
    Fault(
        "connects-without-a-pause",
        "link",
        "attempts to connect follow each other at once",
        function(links, "jittered", lambda right, pause, chance: 0.001),
    ),
    Fault(
        "pauses-never-grow",
        "link",
        "the pause between attempts to connect stays the same",
        value(links, "LONGEST_PAUSE", links.FIRST_PAUSE),
    ),
    Fault(
        "waits-on-silence",
        "link",
        "a silent connection is never given up",
        where_it_fails(
            Connection, "_read", function(Connection, "__init__", _waiting_for_ever), TimeoutError
        ),
    ),
    Fault(
        "keeps-nothing-alive",
        "link",
        "no empty frames keep a connection alive",
        function(Connection, "__init__", _without_keep_alive),
    ),
    Fault(
        "pauses-without-bound",
        "link",
        "the pause after a connection has no bound",
        function(Link, "_count", _pausing_longer),
    ),
    Fault(
        "drops-what-is-unsent",
        "link",
        "a process that ends drops what it has not sent",
        function(Link, "close", _without_end),
    ),
    Fault(
        "frames-of-any-length",
        "link",
        "a frame may have any length",
        function(PeerRunner, "longest_message", lambda right, runner: 1 << 40),
    ),
    Fault(
        "short-frames-only",
        "link",
        "a frame of more than 1,000 bytes ends the connection",
        function(PeerRunner, "longest_message", lambda right, runner: 1000),
    ),
    Fault(
        "long-pauses-stay",
        "link",
        "the pause before the next attempt stays long after a connection that lasted",
        value(links, "LASTING", 1e9),
    ),
    Fault(
        "says-no-loss",
        "link",
        "a user does not hear that the connection is lost, and that there is none",
        marking(Link, "tell", _no_loss, _no_loss),
    ),
    Fault(
        "limit-of-the-beginning",
        "link",
        "the most bytes of a message are those of the beginning of its connection",
        marking(Connection, "messages", _limit_of_the_beginning, _limit_of_the_beginning),
    ),
    Fault(
        "hears-older-connections",
        "link",
        "what an older connection still holds is heard beside the newer one",
        marking(Connection, "_read", _hears_closed, _hears_closed),
    ),
    Fault(
        "uses-older-connections",
        "link",
        "a newer connection does not end the older one",
        marking(Link, "_use", _replaces_nothing, _replaces_nothing),
    ),
    Fault(
        "unsent-without-bound",
        "link",
        "any number of bytes waits for a counterparty that takes nothing",
        value(connections, "MOST_UNSENT", 1 << 60),
    ),
)
