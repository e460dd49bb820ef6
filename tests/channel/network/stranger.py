"""An initiator written from the pages of the specification alone: its network and its opening.

It shares no code with the package: TLS, MessagePack, CLVM trees and signatures come from libraries.
`stranger_session.py` plays and closes.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from chia_rs import AugSchemeMPL, G1Element, G2Element, PrivateKey, Program
from chia_wallet_sdk import Clvm, Coin, PublicKey, standard_puzzle_hash
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

REMARK, CREATE_COIN, ASSERT_HEIGHT_RELATIVE = 1, 51, 82
AMOUNT, TIMEOUT, RESPONSE, MOVE = 10_000, 15, 10, 40
"""What both sides agreed on: mojos of each, and blocks."""

SEEDS = (1, 2, 3)
"""Of the channel, unroll and referee key: a real client draws keys for each channel."""

Message = dict[str, Any]


# --- the network ---------------------------------------------------------------------------------


def _certificate(
    subject: str, key: Ed25519PublicKey, signer: Ed25519PrivateKey
) -> x509.Certificate:
    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    is_anchor = subject == "channelsim key"
    return (
        x509.CertificateBuilder(name("channelsim key"), name(subject), key, 77)
        .not_valid_before(datetime(2021, 1, 1))
        .not_valid_after(datetime(2099, 1, 1))
        .add_extension(x509.BasicConstraints(is_anchor, None), critical=True)
        .sign(signer, None)
    )


@dataclass
class NetworkKey:
    key: Ed25519PrivateKey

    @property
    def fingerprint(self) -> str:
        return self.key.public_key().public_bytes_raw().hex()

    def context(self, counterparty: str, folder: Path) -> ssl.SSLContext:
        own = folder / "stranger.pem"
        shown = _certificate("channelsim peer", self.key.public_key(), self.key)
        own.write_bytes(
            shown.public_bytes(Encoding.PEM)
            + self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        )
        pinned = Ed25519PublicKey.from_public_bytes(bytes.fromhex(counterparty))
        anchor = _certificate("channelsim key", pinned, Ed25519PrivateKey.generate())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.load_cert_chain(own)
        context.load_verify_locations(cadata=anchor.public_bytes(Encoding.DER))
        return context


@dataclass
class Wire:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, message: Message | None) -> None:
        self.writer.write(frame(message))
        await self.writer.drain()

    async def send_half(self, message: Message) -> None:
        """Send the first half of a frame."""
        data = frame(message)
        self.writer.write(data[: len(data) // 2])
        await self.writer.drain()

    async def receive(self, say: str = "") -> Message:
        """The next message, which has to be of this kind if one is given; empty frames mean
        nothing."""
        while True:
            length = int.from_bytes(await self.reader.readexactly(4), "big")
            data = await self.reader.readexactly(length)
            if data:
                message: Message = msgspec.msgpack.decode(data)
                assert message["say"] == say or not say, message
                return message


def frame(message: Message | None) -> bytes:
    data = b"" if message is None else msgspec.msgpack.encode(message)
    return len(data).to_bytes(4, "big") + data


# --- coins, conditions and signatures -------------------------------------------------------------


def tree_hash(value: Any) -> bytes:
    """The hash of a CLVM tree: of atoms (bytes or ints), pairs (tuples), lists and programs."""
    if isinstance(value, Program):
        return bytes(value.get_tree_hash())
    if isinstance(value, list):
        value = (value[0], value[1:]) if value else b""
    if isinstance(value, tuple):
        return sha256(b"\2" + tree_hash(value[0]) + tree_hash(value[1])).digest()
    if isinstance(value, int):
        value = value.to_bytes((value.bit_length() + 8) // 8, "big", signed=True) if value else b""
    return sha256(b"\1" + value).digest()


def curried(program: bytes, *arguments: bytes) -> bytes:
    """The hash of a program with the first arguments fixed; each is given by its tree hash."""
    quote, apply, cons, nil = (tree_hash(one) for one in (1, 2, 4, b""))

    def pair(first: bytes, rest: bytes) -> bytes:
        return sha256(b"\2" + first + rest).digest()

    rest = quote
    for argument in reversed(arguments):
        rest = pair(cons, pair(pair(quote, argument), pair(rest, nil)))
    mod = tree_hash(Program.from_bytes(program))
    return pair(apply, pair(pair(quote, mod), pair(rest, nil)))


def proof(key: PrivateKey) -> bytes:
    return bytes(AugSchemeMPL.sign(key, bytes(key.get_g1())))


@dataclass
class Channel:
    """An open channel as its initiator has it. Pairs are the initiator's value first."""

    key: PrivateKey
    unroll_key: PrivateKey
    theirs: Message
    coin_id: bytes
    rewards: tuple[bytes, bytes]
    genesis: bytes
    unroll: bytes

    @property
    def sums(self) -> tuple[G1Element, G1Element]:
        """The sums of both channel keys, and of both unroll keys."""
        return (
            self.key.get_g1() + G1Element.from_bytes(self.theirs["channel_key"]),
            self.unroll_key.get_g1() + G1Element.from_bytes(self.theirs["unroll_key"]),
        )

    def payouts(self, balances: tuple[int, int]) -> list[Any]:
        """A CREATE_COIN for each balance above 0."""
        pairs = zip(self.rewards, balances, strict=True)
        return [[CREATE_COIN, address, mojos] for address, mojos in pairs if mojos]

    def spend(self, conditions: list[Any]) -> bytes:
        """What is signed to spend the channel coin with these conditions."""
        return tree_hash((1, conditions)) + self.coin_id + self.genesis

    def state(
        self, number: int, balances: tuple[int, int], games: list[Any]
    ) -> tuple[bytes, bytes]:
        """What both halves of a state sign; `games` are the CREATE_COINs of its games."""
        conditions = [[REMARK, number], *self.payouts(balances), *games]
        locked = [[ASSERT_HEIGHT_RELATIVE, TIMEOUT], *conditions]
        fixed = (bytes(self.sums[1]), number, tree_hash(locked))
        to = curried(self.unroll, *map(tree_hash, fixed))
        return self.spend([[CREATE_COIN, to, 2 * AMOUNT]]), tree_hash(conditions)

    def halves(self, messages: tuple[bytes, bytes]) -> Message:
        """Our halves, as the fields of a message."""
        keys = zip((self.key, self.unroll_key), messages, self.sums, strict=True)
        first, second = (bytes(AugSchemeMPL.sign(*one)) for one in keys)
        return {"channel_half": first, "unroll_half": second}

    def check(self, message: Message, messages: tuple[bytes, bytes]) -> None:
        """Check the other side's halves in a message."""
        for name, total, signed in zip(("channel", "unroll"), self.sums, messages, strict=True):
            self.check_half(name, message[f"{name}_half"], total, signed)

    def check_half(self, name: str, half: bytes, total: G1Element, signed: bytes) -> None:
        """Check one half, by the other side's key of this name."""
        point = AugSchemeMPL.g2_from_message(bytes(total) + signed)
        pair = G1Element.from_bytes(self.theirs[f"{name}_key"]).pair(point)
        assert pair == G1Element.generator().pair(G2Element.from_bytes(half))


@dataclass
class Stranger:
    """An initiator with a wallet coin; `unroll` is the compiled program of the unroll coin."""

    wallet_key: PrivateKey
    wallet_coin: tuple[bytes, bytes, int]
    reward: bytes
    genesis: bytes
    unroll: bytes

    async def open(self, wire: Wire, peak: int) -> tuple[Channel, Message]:
        """Open a channel; returns it, and the completed funding."""
        channel, unroll, referee = (AugSchemeMPL.key_gen(bytes([n]) * 32) for n in SEEDS)
        await wire.send(
            {
                "say": "hello",
                "unroll_key": bytes(unroll.get_g1()),
                "referee_key": bytes(referee.get_g1()),
                "reward_address": self.reward,
                "payout_signature": bytes(AugSchemeMPL.sign(referee, b"\x78" + self.reward)),
                "unroll_proof": proof(unroll),
                "contributions": [AMOUNT, AMOUNT],
                "unroll_timeout": TIMEOUT,
                "response_time": RESPONSE,
                "move_time": MOVE,
                "channel_key_hash": sha256(bytes(channel.get_g1())).digest(),
            }
        )
        theirs = await wire.receive("welcome")
        deadline = peak + 20
        parent, puzzle_hash, mojos = self.wallet_coin
        await wire.send(
            {
                "say": "launch",
                "parent": {"parent": parent, "puzzle_hash": puzzle_hash, "amount": mojos},
                "deadline": deadline,
                "channel_key": bytes(channel.get_g1()),
                "channel_proof": proof(channel),
            }
        )
        channel_sum = channel.get_g1() + G1Element.from_bytes(theirs["channel_key"])
        clvm = Clvm()
        launcher_puzzle = clvm.singleton_launcher()
        wallet = Coin(parent, puzzle_hash, mojos)
        launcher = Coin(wallet.coin_id(), launcher_puzzle.tree_hash(), 0)
        channel_puzzle = standard_puzzle_hash(PublicKey.from_bytes(bytes(channel_sum)))
        coin_id: bytes = Coin(launcher.coin_id(), channel_puzzle, 2 * AMOUNT).coin_id()
        rewards = (self.reward, theirs["reward_address"])
        opened = Channel(channel, unroll, theirs, coin_id, rewards, self.genesis, self.unroll)
        balances = (AMOUNT, AMOUNT)
        opened.check(await wire.receive("first-halves"), opened.state(0, balances, []))

        solution = clvm.list([clvm.atom(channel_puzzle), clvm.int(2 * AMOUNT), clvm.nil()])
        announced = sha256(launcher.coin_id() + solution.tree_hash()).digest()
        spend = clvm.delegated_spend(
            [
                clvm.create_coin(launcher_puzzle.tree_hash(), 0, None),
                clvm.create_coin(puzzle_hash, mojos - AMOUNT, None),
                clvm.assert_coin_announcement(announced),
                clvm.assert_before_height_absolute(deadline),
            ]
        )
        public = PublicKey.from_bytes(bytes(self.wallet_key.get_g1()))
        clvm.spend_standard_coin(wallet, public, spend)
        signed = spend.puzzle.tree_hash() + wallet.coin_id() + self.genesis
        spends = [
            {
                "coin": {"parent": parent, "puzzle_hash": puzzle_hash, "amount": mojos},
                "puzzle": one.puzzle_reveal,
                "solution": one.solution,
            }
            for one in clvm.coin_spends()
        ]
        launch = {
            "coin": {
                "parent": wallet.coin_id(),
                "puzzle_hash": launcher_puzzle.tree_hash(),
                "amount": 0,
            },
            "puzzle": launcher_puzzle.serialize(),
            "solution": solution.serialize(),
        }
        await wire.send(
            {
                "say": "funding",
                **opened.halves(opened.state(1, balances, [])),
                "part": {
                    "spends": [*spends, launch],
                    "signature": bytes(AugSchemeMPL.sign(self.wallet_key, signed)),
                },
            }
        )
        funded = await wire.receive("funded")
        return opened, funded
