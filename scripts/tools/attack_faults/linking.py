"""Faults in the link between two peers: its connections, its frames, and its pauses."""

from __future__ import annotations

import asyncio
from typing import Any

from channelsim.channel.attack import world
from channelsim.channel.network import link as links
from channelsim.channel.network.connection import Connection, Limits
from channelsim.channel.network.link import Link
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
    link._pause = 1e5  # noqa: SLF001


def _without_end(right: Any, link: Any) -> Any:
    async def closed() -> None:
        if link._current is not None:  # noqa: SLF001
            link._current.close()  # noqa: SLF001

    return closed()


def _no_loss(reach: Reach, right: Any, link: Any, line: str) -> None:
    if line.startswith(("the connection is lost", "no connection")):
        reach.mark()
        if not reach.probes:
            return
    right(link, line)


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
)
