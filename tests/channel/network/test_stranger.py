"""A client that shares no code with us, written from the specification, plays a whole session."""

from __future__ import annotations

import asyncio
from pathlib import Path

from chia_rs import PrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.network.identity import Pairing
from channelsim.channel.network.link import Link, listen
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.identity import make_config
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import SidePlayer, by_policy
from tests.channel.network.stranger import AMOUNT, TIMEOUT, NetworkKey, Stranger, Wire
from tests.channel.network.stranger_poker import STAKE, UNIT
from tests.channel.network.stranger_session import Session
from tests.channel.network.wire import GUARD, identity, until
from tests.paths import ROOT

PROGRAMS = {
    "unroll": "channel",
    "referee": "channel",
    **dict.fromkeys(("commitA", "commitB", "begin_round", "mid_round", "end"), "spacepoker"),
}


HANDS = 3
"""The first two are played to the showdown; the stranger folds the last one."""


def program(name: str) -> bytes:
    folder = ROOT / "clsp/compiled" / PROGRAMS[name]
    return bytes.fromhex((folder / f"{name}.hex").read_text().strip())


def test_a_stranger_opens_a_channel_plays_hands_and_closes_by_the_text(tmp_path: Path) -> None:
    """Connections break in the middle of its batches, and with the answers to them."""
    for name in ("stranger", "stranger_poker", "stranger_session"):
        source = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        assert "import channelsim" not in source
        assert "from channelsim" not in source
    chain = SimulatedChain(5)
    config = make_config(
        b"text", Side.RECEIVER, chain, Agreement((AMOUNT, AMOUNT), TIMEOUT, confirmations=1)
    )
    key = PrivateKey.from_bytes(b"\x05" * 32)
    coin = chain.give(address_of(key), AMOUNT + 1)
    client = Stranger(
        wallet_key=key,
        wallet_coin=(coin.parent, coin.puzzle_hash, coin.amount),
        reward=b"\x09" * 32,
        genesis=chain.agg_sig_data(),
        unroll=program("unroll"),
    )
    network = NetworkKey(Ed25519PrivateKey.generate())
    setup = Setup(("spacepoker",), "", HANDS, UNIT, STAKE // UNIT, AMOUNT, ("caller", "caller"))

    async def play() -> None:
        peer = Peer(config)
        player = SidePlayer(setup, peer, by_policy("aggressive", config.secret))
        runner = PeerRunner(peer, peer, chain, player, DeckThreads(), poll_time=0.01)
        running = asyncio.ensure_future(runner.run())
        pairing = Pairing(identity(tmp_path), network.fingerprint)
        async with listen(Link(runner), ("127.0.0.1", 0), pairing) as address:
            context = network.context(pairing.identity.fingerprint, tmp_path)

            async def connect() -> Wire:
                wire = Wire(*await asyncio.open_connection(*address, ssl=context))
                await wire.send(None)
                return wire

            wire = await connect()
            channel, funded = await client.open(wire, chain.peak())
            assert len(funded["bundle"]["spends"]) == 3
            await until(lambda: bool(chain.pending(coin.id)))
            chain.farm()
            seen = chain.coin(channel.coin_id)
            assert seen is not None
            assert seen.coin.amount == 2 * AMOUNT
            chain.farm()
            await until(lambda: peer.phase is Phase.PLAYING)
            programs = {name: program(name) for name in PROGRAMS}
            cuts, losses = frozenset({7, 23}), frozenset({11, 31})
            session = Session(channel, programs, wire, connect, HANDS, cuts, losses)
            balances = await session.play()
            assert session.number > max(cuts | losses)
            await until(lambda: bool(chain.pending(channel.coin_id)))
            chain.farm(2)
            await asyncio.wait_for(running, GUARD)
            session.wire.writer.transport.abort()
        assert {*PROGRAMS, "raise"} - {"unroll", "referee"} == set(session.done)
        for reward, balance in zip(channel.rewards, balances, strict=True):
            assert [seen.coin.amount for seen in chain.coins_at(reward)] == [balance]

    asyncio.run(play())
