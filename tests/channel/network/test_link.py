"""Two ends of a link: messages arrive whole and in order, and connections are made again."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Coroutine
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from channelsim.channel.errors import UsageError
from channelsim.channel.network.connection import Connection
from channelsim.channel.network.identity import (
    NetworkIdentity,
    Pairing,
    make_identity,
    read_fingerprint,
    read_identity,
)
from channelsim.channel.network.link import Link, connect, listen
from channelsim.channel.protocol.messages import MAX_MESSAGE
from channelsim.games.chance import Chance
from channelsim.plugins import WrongAnswer
from tests.channel.network.wire import GUARD, HASTY, Ear, Place, frame, pairings, place, until

CHANCE = Chance(b"network")


async def while_running(
    work: Coroutine[None, None, None], *tasks: Coroutine[None, None, None]
) -> None:
    running = [asyncio.ensure_future(task) for task in tasks]
    try:
        await work
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def test_messages_of_any_size_arrive_in_order_in_both_directions(tmp_path: Path) -> None:
    sizes = [1, 2, 70_000, 3, MAX_MESSAGE, 4]
    sent = [bytes([number]) * size for number, size in enumerate(sizes)]

    async def talk() -> None:
        async with place(tmp_path, ear=Ear(MAX_MESSAGE, answer=lambda message: message)) as here:
            ear = Ear(MAX_MESSAGE)

            async def work() -> None:
                await until(lambda: bool(ear.links))
                for message in sent:
                    ear.links[0].send(message)
                await until(lambda: len(ear.heard) == len(sent))

            await while_running(work(), connect(Link(ear), here.address, here.friend, CHANCE))
            assert ear.heard == here.ear.heard == sent

    asyncio.run(talk())


def test_a_link_that_ends_sends_what_waits_to_be_sent(tmp_path: Path) -> None:
    last = bytes(MAX_MESSAGE)

    async def talk() -> None:
        async with place(tmp_path, ear=Ear(MAX_MESSAGE)) as here:
            ear = Ear(MAX_MESSAGE)
            link = Link(ear)

            async def work() -> None:
                await until(lambda: bool(ear.links))
                ear.links[0].send(last)
                await link.close()

            await while_running(work(), connect(link, here.address, here.friend, CHANCE))
            await until(lambda: bool(here.ear.heard or here.ear.lost))
            assert here.ear.heard == [last]

    asyncio.run(talk())


def test_a_connection_that_breaks_is_made_again_on_either_side(tmp_path: Path) -> None:
    async def talk() -> None:
        async with place(tmp_path) as here:
            ear, lines = Ear(), list[str]()

            async def work() -> None:
                await until(lambda: len(ear.links) == len(here.ear.links) == 1)
                ear.links[0].close()
                await until(lambda: len(ear.links) == len(here.ear.links) == 2)
                here.ear.links[1].close()
                await until(lambda: len(ear.links) == len(here.ear.links) == 3)
                ear.links[2].send(b"again")
                await until(lambda: here.ear.heard == [b"again"])

            link = Link(ear, lines.append)
            await while_running(work(), connect(link, here.address, here.friend, CHANCE))
            lost = "the connection is lost: the other side closed it"
            assert lines == ["connected", lost, "connected", lost, "connected"]

    asyncio.run(talk())


async def opened(here: Place) -> Connection:
    """Connect once, as the counterparty."""
    return Connection(*await here.open(here.friend))


def test_the_newer_of_two_connections_wins(tmp_path: Path) -> None:
    async def talk() -> None:
        async with place(tmp_path) as here:
            old, new = Ear(), Ear()

            async def work() -> None:
                await until(lambda: bool(old.links))
                task = asyncio.ensure_future(connect(Link(new), here.address, here.friend, CHANCE))
                await until(lambda: bool(new.links) and bool(old.lost))
                new.links[-1].send(b"of the newer one")
                await until(lambda: here.ear.heard == [b"of the newer one"])
                task.cancel()

            link = Link(old)
            await while_running(work(), link.serve(await opened(here)))

    asyncio.run(talk())


def test_a_silent_connection_is_kept_alive_by_both_sides(tmp_path: Path) -> None:
    async def talk() -> None:
        async with place(tmp_path, HASTY) as here:
            ear = Ear()

            async def work() -> None:
                await until(lambda: bool(ear.links))
                await asyncio.sleep(3 * HASTY.idle)
                ear.links[0].send(b"still there")
                await until(lambda: here.ear.heard == [b"still there"])
                assert (len(ear.links), ear.lost) == (1, 0)

            await while_running(work(), connect(Link(ear), here.address, here.friend, CHANCE))

    asyncio.run(talk())


def test_an_end_without_the_others_key_gets_no_connection_and_says_so_once(tmp_path: Path) -> None:
    async def talk() -> None:
        async with place(tmp_path) as here:
            wrong, lines = Ear(), list[str]()
            link = Link(wrong, lines.append)

            async def work() -> None:
                await until(lambda: bool(lines))
                await asyncio.sleep(1)

            await while_running(work(), connect(link, here.address, here.stranger, CHANCE))
            assert (wrong.links, here.ear.links) == ([], [])
            assert len(lines) == 1

    asyncio.run(talk())


def reissue(identity: NetworkIdentity, usual: bytes, wanted: bytes) -> None:
    """Give an identity a certificate with other bytes in one place, signed by its key."""
    pem = identity.path.read_bytes()
    certificate, key = x509.load_pem_x509_certificate(pem), load_pem_private_key(pem, None)
    assert isinstance(key, Ed25519PrivateKey)
    assert usual in certificate.tbs_certificate_bytes
    signed = certificate.tbs_certificate_bytes.replace(usual, wanted, 1)
    der = certificate.public_bytes(Encoding.DER)
    der = der.replace(certificate.tbs_certificate_bytes, signed)
    der = der.replace(certificate.signature, key.sign(signed))
    identity.path.write_bytes(
        ssl.DER_cert_to_PEM_cert(der).encode() + pem[pem.index(b"-----BEGIN PRIV") :]
    )


@pytest.mark.parametrize(
    ("usual", "wanted", "connects"),
    [
        (b"\xa0\3\2\1\2", b"\xa0\3\2\1\2", True),
        (b"\xa0\3\2\1\2", b"\xa0\3\2\1\4", False),
        (b"200101000000Z", b"490101000000Z", True),
    ],
    ids=("as usual", "of a version that only TLS can read", "valid after the time of our clock"),
)
def test_a_certificate_needs_the_key_alone(
    tmp_path: Path, usual: bytes, wanted: bytes, connects: bool
) -> None:
    async def talk() -> None:
        us, them, _ = pairings(tmp_path)
        reissue(them.identity, usual, wanted)
        lines: list[str] = []
        link, theirs = Link(Ear(), lines.append), Link(Ear())
        async with listen(theirs, ("127.0.0.1", 0), them) as address:
            await while_running(until(lambda: bool(lines)), connect(link, address, us, CHANCE))
        assert any("the other side shows another key" in line for line in lines) is not connects

    asyncio.run(talk())


def test_keys_are_kept_in_a_file_that_a_passphrase_may_encrypt(tmp_path: Path) -> None:
    make_identity(tmp_path, b"passphrase")
    made = read_identity(tmp_path, b"passphrase")
    make_identity(tmp_path, b"another")
    assert read_identity(tmp_path, b"passphrase").fingerprint == made.fingerprint
    assert b"ENCRYPTED" in made.path.read_bytes()
    assert made.path.stat().st_mode & 0o077 == 0
    for passphrase, reason in ((b"", "encrypted; give"), (b"wrong", "passphrase is wrong")):
        with pytest.raises(UsageError, match=reason):
            read_identity(tmp_path, passphrase)
    made.path.write_bytes(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(UsageError, match="damaged"):
        read_identity(tmp_path)
    for text in ("", "0" * 63, "G" * 64, "A" * 64):
        with pytest.raises(UsageError, match="64 hex digits"):
            read_fingerprint(text)


def test_an_address_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path) -> None:
    async def talk() -> None:
        here = pairings(tmp_path)[0]
        with pytest.raises(UsageError, match=r"192\.0\.2\.1:0: cannot listen there"):
            async with listen(Link(Ear()), ("192.0.2.1", 0), here):
                pass

    asyncio.run(talk())


class Failing(Ear):
    """An end that fails to take a connection or a message, and hears of it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.failures: list[BaseException] = []
        self._name = name

    def _may_fail(self, name: str) -> None:
        if name == self._name:
            raise WrongAnswer(name)

    async def connected(self, link: Connection) -> None:
        self._may_fail("connected")
        await super().connected(link)

    def received(self, message: bytes) -> None:
        self._may_fail("received")
        super().received(message)

    def disconnected(self, link: Connection) -> None:
        self._may_fail("disconnected")
        super().disconnected(link)

    def failed(self, error: BaseException) -> None:
        self.failures.append(error)


@pytest.mark.parametrize("name", ["connected", "received", "disconnected"])
def test_whatever_fails_in_a_connection_is_reported(tmp_path: Path, name: str) -> None:
    """Also what is no `Exception`: it must not end a task in silence."""

    async def play() -> None:
        ear = Failing(name)
        async with place(tmp_path, ear=ear) as here:
            _, writer = await here.open(here.friend)
            writer.write(frame(b"") + frame(b"message"))
            await until(lambda: bool(ear.links) or bool(ear.failures))
            writer.close()
            await until(lambda: bool(ear.failures))
            assert [str(one) for one in ear.failures] == [name]

    asyncio.run(play())


class Keyless(Pairing):
    """A pairing whose key cannot be used."""

    def context(self, *, server: bool) -> ssl.SSLContext:
        raise ValueError("no key")


def test_a_side_that_can_accept_no_connections_does_not_wait_for_them(tmp_path: Path) -> None:
    here, _, _ = pairings(tmp_path)

    async def play() -> None:
        keyless = Keyless(here.identity, here.counterparty, here.limits)
        async with asyncio.timeout(GUARD), listen(Link(Ear()), ("127.0.0.1", 0), keyless):
            await asyncio.Event().wait()

    with pytest.raises(ValueError, match="no key"):
        asyncio.run(play())
