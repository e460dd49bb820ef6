"""An initiator written from the pages of the specification alone: it opens a channel, and no more.

It shares no code with the package: TLS, MessagePack, CLVM trees and signatures come from libraries.
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
        data = b"" if message is None else msgspec.msgpack.encode(message)
        self.writer.write(len(data).to_bytes(4, "big") + data)
        await self.writer.drain()

    async def receive(self, say: str) -> Message:
        """The next message, which has to be of this kind; empty frames mean nothing."""
        while True:
            length = int.from_bytes(await self.reader.readexactly(4), "big")
            data = await self.reader.readexactly(length)
            if data:
                message: Message = msgspec.msgpack.decode(data)
                assert message["say"] == say, message
                return message


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


def unroll_puzzle_hash(unroll: bytes, key: G1Element, number: int, conditions: list[Any]) -> bytes:
    locked = [[ASSERT_HEIGHT_RELATIVE, TIMEOUT], *conditions]
    arguments: Any = 1
    for argument in (tree_hash(locked), number, bytes(key)):
        arguments = [4, (1, argument), arguments]
    return tree_hash([2, (1, Program.from_bytes(unroll)), arguments])


def proof(key: PrivateKey) -> bytes:
    return bytes(AugSchemeMPL.sign(key, bytes(key.get_g1())))


@dataclass
class Stranger:
    """An initiator with a wallet coin; `unroll` is the compiled program of the unroll coin."""

    wallet_key: PrivateKey
    wallet_coin: tuple[bytes, bytes, int]
    reward: bytes
    genesis: bytes
    unroll: bytes

    async def open(self, wire: Wire, peak: int) -> tuple[bytes, Message]:
        """Open a channel; returns the id of its coin, and the completed funding."""
        channel, unroll, referee = (AugSchemeMPL.key_gen(bytes([n]) * 32) for n in (1, 2, 3))
        await wire.send(None)
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
        unroll_sum = unroll.get_g1() + G1Element.from_bytes(theirs["unroll_key"])
        clvm = Clvm()
        launcher_puzzle = clvm.singleton_launcher()
        wallet = Coin(parent, puzzle_hash, mojos)
        launcher = Coin(wallet.coin_id(), launcher_puzzle.tree_hash(), 0)
        channel_puzzle = standard_puzzle_hash(PublicKey.from_bytes(bytes(channel_sum)))
        coin_id: bytes = Coin(launcher.coin_id(), channel_puzzle, 2 * AMOUNT).coin_id()

        def messages(number: int) -> tuple[bytes, bytes]:
            """What both halves of an opening state sign."""
            rewards = (self.reward, theirs["reward_address"])
            conditions = [[REMARK, number], *([CREATE_COIN, one, AMOUNT] for one in rewards)]
            to = unroll_puzzle_hash(self.unroll, unroll_sum, number, conditions)
            delegated = tree_hash((1, [[CREATE_COIN, to, 2 * AMOUNT]]))
            return delegated + coin_id + self.genesis, tree_hash(conditions)

        first = await wire.receive("first-halves")
        for half, key, total, message in (
            (first["channel_half"], theirs["channel_key"], channel_sum, messages(0)[0]),
            (first["unroll_half"], theirs["unroll_key"], unroll_sum, messages(0)[1]),
        ):
            point = AugSchemeMPL.g2_from_message(bytes(total) + message)
            pair = G1Element.from_bytes(key).pair(point)
            assert pair == G1Element.generator().pair(G2Element.from_bytes(half))

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
        halves = messages(1)
        await wire.send(
            {
                "say": "funding",
                "channel_half": bytes(AugSchemeMPL.sign(channel, halves[0], channel_sum)),
                "unroll_half": bytes(AugSchemeMPL.sign(unroll, halves[1], unroll_sum)),
                "part": {
                    "spends": [*spends, launch],
                    "signature": bytes(AugSchemeMPL.sign(self.wallet_key, signed)),
                },
            }
        )
        funded = await wire.receive("funded")
        return coin_id, funded
