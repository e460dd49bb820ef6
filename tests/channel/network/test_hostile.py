"""Whatever strangers and a hostile counterparty do, the link goes on in bounded memory."""

from __future__ import annotations

import asyncio
import gc
import resource
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from channelsim.channel.network.connection import HEAD, Limits
from channelsim.channel.network.link import Link, connect
from channelsim.channel.network.listener import MOST_HANDSHAKES
from channelsim.channel.protocol.messages import MAX_MESSAGE
from channelsim.games.chance import Chance
from tests.channel.network.wire import HASTY, LONGEST, Ear, Place, ended, frame, place, until

PATIENT = Limits(handshake=5.0)

Attack = Callable[[Place], Awaitable[None]]


async def plain(here: Place, data: bytes) -> None:
    reader, writer = await asyncio.open_connection(*here.address)
    writer.write(data)
    assert await ended(reader)
    writer.transport.abort()


async def garbage(here: Place) -> None:
    """Bytes that are no TLS."""
    await plain(here, b"GET / HTTP/1.1\r\n\r\n" * 100)


async def silence_before_tls(here: Place) -> None:
    """A connection that says nothing."""
    await plain(here, b"")


async def half_a_handshake(here: Place) -> None:
    """The head of a TLS record that never comes."""
    await plain(here, bytes.fromhex("1603010200010001fc0303"))


async def old_tls(here: Place) -> None:
    """TLS 1.2, with the counterparty's own key."""
    context = here.friend.context(server=False)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection(*here.address, ssl=context)


async def another_key(here: Place) -> None:
    """TLS with a key that nobody pinned, and a message in it."""
    reader, writer = await here.open(here.stranger)
    writer.write(frame(b"") + frame(b"of a stranger"))
    assert await ended(reader)
    writer.transport.abort()


async def no_certificate(here: Place) -> None:
    """TLS without a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    reader, writer = await asyncio.open_connection(*here.address, ssl=context)
    writer.write(frame(b""))
    assert await ended(reader)
    writer.transport.abort()


async def talking(here: Place, *data: bytes) -> None:
    """Authenticated bytes, after which the listener ends the connection."""
    reader, writer = await here.open(here.friend)
    for one in data:
        writer.write(one)
        await asyncio.sleep(HASTY.idle / 4)
    assert await ended(reader)
    writer.transport.abort()


async def no_first_frame(here: Place) -> None:
    """Silence after the handshake."""
    await talking(here)


async def a_first_frame_that_is_not_empty(here: Place) -> None:
    """A message before the exchange of empty frames."""
    await talking(here, frame(b"too early"))


async def half_open(here: Place) -> None:
    """Silence without keep-alive."""
    await talking(here, frame(b""))


async def too_long(here: Place) -> None:
    """The length of a frame above the limit of the step; nothing of it is awaited."""
    await talking(here, frame(b"") + (LONGEST + 1).to_bytes(4, "big"))


async def endless(here: Place) -> None:
    """The greatest length that there is."""
    await talking(here, frame(b"") + b"\xff\xff\xff\xff" + bytes(1000))


async def dribbling(here: Place) -> None:
    """A frame that comes a byte at a time, more slowly than a frame may."""
    await talking(here, frame(b""), *(bytes([byte]) for byte in frame(b"slow as it can be")))


ATTACKS = [
    garbage,
    silence_before_tls,
    half_a_handshake,
    old_tls,
    another_key,
    no_certificate,
    no_first_frame,
    a_first_frame_that_is_not_empty,
    half_open,
    too_long,
    endless,
    dribbling,
]


def test_attacks_end_and_the_counterparty_gets_through(tmp_path: Path) -> None:
    async def all_at_once() -> None:
        async with place(tmp_path, HASTY) as here:
            await asyncio.gather(*(attack(here) for attack in ATTACKS))
            assert here.ear.heard == []
            await greet(here)

    asyncio.run(all_at_once())


async def greet(here: Place) -> None:
    """Connect as the counterparty, and say something."""
    friend = Ear()
    task = asyncio.ensure_future(
        connect(Link(friend), here.address, here.friend, Chance(b"network"))
    )
    await until(lambda: bool(friend.links))
    friend.links[-1].send(b"through")
    await until(lambda: b"through" in here.ear.heard)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_a_flood_is_read_no_faster_than_its_answers_are_taken(tmp_path: Path) -> None:
    """A counterparty that sends and never reads: what waits for it stays bounded."""
    answer = bytes(30_000)

    async def flood() -> None:
        async with place(tmp_path, ear=Ear(answer=lambda message: answer)) as here:
            _, writer = await here.open(here.friend)
            writer.write(frame(b"") + frame(b"?") * 20_000)
            before = -1
            while before != len(here.ear.heard):
                before = len(here.ear.heard)
                await asyncio.sleep(0.2)
            # Without a bound it would hold 600 MB by now.
            assert 0 < before < 1000
            writer.transport.abort()
            await until(lambda: here.ear.lost == 1)

    asyncio.run(flood())


async def crowd(tmp_path: Path, count: int) -> tuple[int, int]:
    """Hold connections open that say nothing; the counterparty gets through meanwhile.

    Returns how much memory grew, in kB, and the most connections that were held at a time.
    """
    async with place(tmp_path, PATIENT) as here:
        await greet(here)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sockets: list[socket.socket] = []
        loop, most = asyncio.get_running_loop(), 0
        try:
            for number in range(count):
                one = socket.socket()
                one.setblocking(False)
                sockets.append(one)
                await loop.sock_connect(one, here.address)
                if number % 100 == 99:
                    await asyncio.sleep(0)
                    most = max(most, _transports())
            await greet(here)
        finally:
            for one in sockets:
                one.close()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, most


def _transports() -> int:
    """The number of TLS connections in this process, as far as it has not forgotten them."""
    return sum(type(one).__name__ == "SSLProtocol" for one in gc.get_objects())


def test_two_hundred_silent_connections_do_not_keep_the_counterparty_out(tmp_path: Path) -> None:
    grown, most = asyncio.run(crowd(tmp_path, 200))
    assert most < 3 * MOST_HANDSHAKES
    assert grown < 60_000


def test_the_counterparty_itself_has_one_connection_that_begins_and_one_in_use(
    tmp_path: Path,
) -> None:
    async def crowd_of_friends() -> None:
        async with place(tmp_path, PATIENT) as here:
            friend = Ear()
            link = Link(friend)
            using = asyncio.ensure_future(
                connect(link, here.address, here.friend, Chance(b"network"))
            )
            await until(lambda: bool(here.ear.links))
            pairs = [await here.open(here.friend) for _ in range(20)]
            assert all([await ended(reader) for reader, _ in pairs[:-1]])
            friend.links[0].send(b"still in use")
            await until(lambda: here.ear.heard == [b"still in use"])
            assert here.ear.lost == 0
            using.cancel()
            await asyncio.gather(using, return_exceptions=True)
            for _, writer in pairs:
                writer.transport.abort()

    asyncio.run(crowd_of_friends())


def test_connections_in_a_loop_begin_after_growing_pauses(tmp_path: Path) -> None:
    async def loop(here: Place) -> None:
        while True:
            reader, writer = await here.open(here.friend)
            writer.write(frame(b""))
            await reader.readexactly(HEAD)
            writer.transport.abort()

    async def attack() -> None:
        async with place(tmp_path, PATIENT) as here:
            begun = time.monotonic()
            attacking = asyncio.ensure_future(loop(here))
            await until(lambda: here.ear.lost == 3)
            attacking.cancel()
            await asyncio.gather(attacking, return_exceptions=True)
            await greet(here)
            # The pauses are 0.25, 0.5 and 1 s; the counterparty itself gets through after the last.
            assert len(here.ear.links) == 4
            assert time.monotonic() - begun > 1.7

    asyncio.run(attack())


@pytest.mark.long
def test_ten_thousand_silent_connections_cost_no_more_than_two_hundred(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 12_000), hard))
    try:
        grown, most = asyncio.run(crowd(tmp_path, 10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    print(f"memory grew by {grown} kB; at most {most} connections at a time")
    assert most < 3 * MOST_HANDSHAKES
    assert grown < 60_000


def test_the_longest_message_is_bounded_whatever_the_step_says(tmp_path: Path) -> None:
    async def talk() -> None:
        async with place(tmp_path, HASTY, Ear(1 << 40)) as here:
            await talking(here, frame(b"") + (MAX_MESSAGE + 1).to_bytes(4, "big"))
            assert any("a frame of 10,485,761 bytes" in line for line in here.lines)

    asyncio.run(talk())
