"""Fees of a channel whose sides are processes, at a node whose blocks others fill."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, condition
from channelsim.channel.chain.constants import LEAST_BLOCK_COST
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool import Outcome
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.lab.node.node_wallet import spend_of
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.clsp.programs import Program
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN
from scripts.tools.bench.metered_node import MeteredNode
from tests.channel.cli.test_peer import (
    COMMAND,
    GUARD,
    NAMES,
    PASSPHRASE,
    Side,
    address,
    fingerprint,
    started,
    wallet_file,
)
from tests.channel.paced import at_rest, nodes, paced_blocks

IDENTITY = Program(bytes.fromhex("01"))
"""Anybody can spend a coin with this puzzle."""

CROWD = 3
"""Bundles of others in the mempool: two of them fill a block."""

OUTPUTS = 42
"""Coins that each of these bundles makes: as many as half a block can hold."""

CROWD_FEE = 1_000_000_000
"""The fee of each of these bundles, in mojos: about 10 mojos per cost."""

ENOUGH = 2_000_000_000
TOO_LITTLE = 50_000_000
IN_ALL = 100_000_000_000


class CrowdedChain(SimulatedChain):
    """A node with small blocks, which others fill; `offered` are the bundles of the peers."""

    def __init__(self) -> None:
        super().__init__(1, NodeSettings(False, LEAST_BLOCK_COST, 10 * LEAST_BLOCK_COST))
        self.offered: list[Bundle] = []
        for _ in range(2 * CROWD):
            self.give(IDENTITY.hash, 1)

    def offer(self, bundle: Bundle, *, again: bool = False) -> Outcome:
        """Note a bundle of a peer, and offer it to the mempool."""
        if bundle.spends[0].coin.puzzle_hash != IDENTITY.hash:
            self.offered.append(bundle)
        return super().offer(bundle, again=again)

    def crowd(self) -> None:
        """Let others fill the mempool, as far as they do not already."""
        pending = 0
        for seen in self.coins_at(IDENTITY.hash):
            if pending < CROWD:
                if not self.pending(seen.coin.id):
                    assert self.push(_of_the_crowd(seen.coin)).answer is Answer.ACCEPTED
                pending += 1

    def next_block(self) -> None:
        """Make a block, and let others fill the mempool before anybody looks at it."""
        with self.lock:
            self.farm()
            self.crowd()

    def paid_for(self, coin: Coin) -> list[Bundle]:
        """The bundles with a fee that peers offered for the spend of this coin."""
        return [
            bundle
            for bundle in self.offered
            if bundle.spends[0].coin == coin and len(bundle.spends) > 1
        ]


def _of_the_crowd(coin: Coin) -> Bundle:
    """An expensive spend that leaves a fee."""
    made = [(sha256(bytes([number])).digest(), 1) for number in range(OUTPUTS)]
    made.append((IDENTITY.hash, coin.amount - OUTPUTS - CROWD_FEE))
    conditions = [condition(CREATE_COIN, address, int_to_atom(amount)) for address, amount in made]
    spend = spend_of(coin, IDENTITY.serialized, to_list(conditions))
    return Bundle((spend,), NO_SIGNATURE)


async def recovering(directory: Path, node: MeteredNode, *fees: object) -> Side:
    """Begin `recover` in a process."""
    arguments = ("recover", directory, "--node", node.url, "--every", 0.02, *fees, "--json")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COMMAND, *map(str, arguments)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "CHANNELSIM_PASSPHRASE": PASSPHRASE},
    )
    return Side(directory, process, node)


async def killed(*sides: Side) -> None:
    for side in sides:
        side.process.kill()
        assert await asyncio.wait_for(side.process.wait(), GUARD) == -signal.SIGKILL


async def all_ended(play: Callable[[list[Side]], Awaitable[None]]) -> None:
    """Play, and leave no process behind, also if that fails."""
    sides: list[Side] = []
    try:
        await play(sides)
    finally:
        await killed(*(side for side in sides if side.process.returncode is None))


@pytest.mark.long
def test_a_channel_is_opened_and_settled_in_full_blocks_for_a_fee(tmp_path: Path) -> None:
    """Two processes open it; one is left, with too small a maximum first, and killed twice."""
    chain = CrowdedChain()
    for _ in range(2):
        # Two coins each: one funds the channel, the other one pays the fees.
        keys = [str(wallet_file(chain, tmp_path, name)) for name in NAMES]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]
    chain.crowd()

    async def play(ours: Sequence[MeteredNode], sides: list[Side]) -> None:
        # Stakes of 1,000,000,000 mojos: a claim never costs more than it brings.
        terms = ("--game", "spacepoker", "--hands", "1", "--unit", "100000000")
        most = ("--max-fee", str(ENOUGH), "--max-fees", str(IN_ALL))
        second = await started(
            *(bob, "listen", *terms, *most, "--peer", prints[0], "--wallet-key", keys[1]),
            node=ours[1],
        )
        listening = address(await second.until("Listening"))
        first = await started(
            *(alice, "connect", "--address", listening, *terms, *most),
            *("--peer", prints[1], "--wallet-key", keys[0]),
            node=ours[0],
        )
        sides += [first, second]
        async with paced_blocks(chain.next_block, first, second):
            await first.until("GameStarted")
            await second.until("GameStarted")
        await killed(first, second)
        # Whose bundle comes first is accepted; the other one may wait behind it.
        said = {line["text"] for side in (first, second) for line in side.lines}
        assert "pushes funding+fee: accepted" in said
        opened = next(line["text"] for line in second.lines if line["event"] == "ChannelOpen")
        seen = chain.coin(bytes.fromhex(opened.split()[-1]))
        assert seen is not None
        coin = seen.coin

        poor = await recovering(bob, ours[1], "--max-fee", TOO_LITTLE)
        sides.append(poor)
        await at_rest(poor)
        assert chain.paid_for(coin)
        async with paced_blocks(chain.next_block, poor):
            line = await poor.until("FeeTooLow")
        await killed(poor)
        assert f"its fee of {TOO_LITTLE:,} mojos rises no more" in line["text"]
        assert "start again with --max-fee" in line["text"]
        assert chain.coin(coin.id) == seen, "it is not spent"

        offered = chain.paid_for(coin)
        again = await recovering(bob, ours[1])
        sides.append(again)
        await at_rest(again)
        assert len(chain.paid_for(coin)) > len(offered)
        assert set(chain.paid_for(coin)[len(offered) :]) == {offered[-1]}, "the same bytes"
        await killed(again)
        rich = await recovering(bob, ours[1], "--max-fee", ENOUGH)
        sides.append(rich)
        async with paced_blocks(chain.next_block, rich):
            await rich.end()
        assert chain.paid_for(coin)[-1] not in offered

    with nodes(chain) as ours:
        asyncio.run(all_ended(partial(play, ours)))
