"""Fees for players: the options, the coin that pays, and sessions of processes in full blocks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, condition
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool import Outcome
from channelsim.channel.chain.simulator import LEAST_BLOCK_COST, NodeSettings, SimulatedChain
from channelsim.channel.cli.new_channel import wallet_for_fees, with_fees
from channelsim.channel.cli.running import changed_limits
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.node.node_wallet import spend_of
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import Wallet
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.programs import Program
from channelsim.clsp.values import to_list
from channelsim.games.referee import CREATE_COIN
from tests.channel.cli.test_peer import (
    COMMAND,
    GUARD,
    PASSPHRASE,
    Side,
    address,
    fingerprint,
    started,
    wallet_file,
)
from tests.channel.command import channelsim
from tests.channel.table import ANN, sit

NAMES = ("alice", "bob")

# --- the options -------------------------------------------------------------------------------


@pytest.fixture
def config() -> Config:
    return sit("fees of players").ends[ANN].peer.config


def wallet(config: Config, amount: int) -> Wallet:
    return Wallet(config.wallet.key, Coin(bytes(32), config.wallet.coin.puzzle_hash, amount))


@pytest.mark.parametrize(
    ("others", "pays"),
    [
        ((), "change"),
        ((500,), 500),
        ((7, 600, 500), 600),
        ((7,), "change"),
        ((499,), "change"),
    ],
)
def test_fees_are_paid_from_the_next_largest_coin_unless_that_is_too_small(
    config: Config, others: Sequence[int], pays: int | str
) -> None:
    """Anybody can send dust to an address that the other side knows."""
    funding, change = wallet(config, 10_000), wallet(config, 9_000)
    payer = wallet_for_fees(funding, change, [wallet(config, one) for one in others], 500)
    assert payer is not None
    assert payer.coin.amount == (9_000 if pays == "change" else pays)


def test_a_coin_that_funds_nothing_pays_the_fees(config: Config) -> None:
    """A receiver that contributes nothing spends no coin."""
    own = wallet(config, 10_000)
    assert wallet_for_fees(own, own, [wallet(config, 9_999)], 500) == own
    assert wallet_for_fees(own, None, [wallet(config, 3)], 500) == wallet(config, 3)
    assert wallet_for_fees(own, None, [], 500) is None


def funded(config: Config, amount: int, balance: int) -> Config:
    """The configuration of a channel with these balances, from a coin of this amount."""
    agreement = replace(config.agreement, contributions=(balance, balance))
    return replace(config, wallet=wallet(config, amount), agreement=agreement)


BIG = 1_000_000_000
"""A contribution of which 1 % pays a fee that mempools take."""


@pytest.mark.parametrize(
    ("amount", "balance", "limits", "others", "says"),
    [
        (10_000, 1000, FeeLimits(None, None), (), ""),
        (1000, 1000, FeeLimits(None, None), (), ""),
        (2 * BIG, BIG, FeeLimits(None, None), (), "no other coin of this key has 100000000 mojos"),
        (2 * BIG, BIG, FeeLimits(None, None), (BIG,), ""),
        (BIG, BIG, FeeLimits(None, None), (), "takes the whole coin, and this key has no other"),
        (BIG, BIG, FeeLimits(0, None), (), ""),
        (BIG, BIG, FeeLimits(None, 0), (), ""),
        (10_000, 1000, FeeLimits(50, 100), (9,), "no other coin of this key has 100 mojos"),
        (10_000, 1000, FeeLimits(100, None), (2000,), ""),
    ],
)
def test_the_player_of_a_new_channel_knows_which_fees_cannot_be_paid(
    config: Config,
    capsys: pytest.CaptureFixture[str],
    amount: int,
    balance: int,
    limits: FeeLimits,
    others: Sequence[int],
    says: str,
) -> None:
    coins = [wallet(config, one) for one in others]
    after = with_fees(funded(config, amount, balance), limits, coins, Path("w.key"))
    said = capsys.readouterr().err
    assert said.count("\n") == bool(says)
    assert says in said
    if amount > balance or others:
        assert after.fees is not None
        assert (after.fees.per_spend, after.fees.per_channel) == (
            limits.per_spend,
            limits.per_channel,
        )
    else:
        assert after.fees is None


@pytest.mark.parametrize(
    ("stored", "wanted", "after"),
    [
        ((None, None), (None, None), None),
        ((None, None), (5, None), (5, None)),
        ((5, 9), (None, 50), (5, 50)),
        ((5, 9), (5, 9), None),
        ((5, 9), (0, None), (0, 9)),
        ((0, None), (4, None), (4, None)),
        ((0, None), (None, 4), "give --max-fee as well"),
        ((4, 0), (3, None), "give --max-fees as well"),
        (None, (0, None), None),
        (None, (None, 4), "took the wallet's whole coin: no fees can be paid"),
    ],
)
def test_the_maxima_of_a_channel_change_by_an_event(
    config: Config,
    stored: tuple[int | None, int | None] | None,
    wanted: tuple[int | None, int | None],
    after: tuple[int | None, int | None] | str | None,
) -> None:
    fees = Fees(wallet(config, 100), *stored) if stored is not None else None
    peer = Peer(replace(config, fees=fees))
    if isinstance(after, str):
        with pytest.raises(UsageError, match=after):
            changed_limits(peer, FeeLimits(*wanted), Path("dir"))
        return
    event = changed_limits(peer, FeeLimits(*wanted), Path("dir"))
    assert event == (FeeLimits(*after) if after is not None else None)
    if event is not None:
        peer.handle(event)
        assert changed_limits(peer, FeeLimits(*wanted), Path("dir")) is None


# --- simulated peers ---------------------------------------------------------------------------


def played(capsys: pytest.CaptureFixture[str], folder: Path, *options: object) -> tuple[str, int]:
    """The digest of a session with these options, and how many fee coins were split off."""
    file = folder / f"{len(options)}"
    ran = channelsim(
        capsys,
        *("play", "spacepoker", "--seed", "fees", "--hands", 1, "--policy", "folder", "--json"),
        *("--transcript", file, *options),
    )
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)["digest"], file.read_text().count('"pushed":"fee-coins"')


def test_a_session_pays_fees_only_with_the_options(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    limits = ("--max-fee", 30_000_000, "--max-fees", 300_000_000)
    digest, splits = played(capsys, tmp_path, *limits)
    assert splits > 0
    assert played(capsys, tmp_path, *limits, "--processes") == (digest, splits)
    without, none = played(capsys, tmp_path)
    assert (without != digest, none) == (True, 0)
    assert played(capsys, tmp_path, "--max-fee", 0)[1] == 0
    assert channelsim(capsys, "replay", tmp_path / f"{len(limits)}").code == 0


@pytest.mark.parametrize(
    ("options", "paid"),
    [
        (("--fees", 20_000_000), True),
        (("--fees", 20_000_000, "--max-fee", 0), False),
        (("--fees", 20_000_000, "--max-fees", 0), False),
        (("--fees", 20_000_000, "--max-fee", 20_000_000), True),
        ((), False),
    ],
)
def test_a_dispute_pays_as_much_as_its_options_allow(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: tuple[object, ...], paid: bool
) -> None:
    file = tmp_path / "dispute"
    given = ("--seed", "fees", "--json", "--transcript", file, *options)
    ran = channelsim(capsys, "dispute", "run", "silent@7", *given)
    assert (ran.code, ran.err) == (0, "")
    assert ('"pushed":"unroll+fee"' in file.read_text()) is paid


# --- processes in full blocks ------------------------------------------------------------------

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


async def recovering(directory: Path, url: str, *fees: object) -> Side:
    """Begin `recover` in a process."""
    arguments = ("recover", directory, "--node", url, "--every", 0.02, *fees, "--json")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COMMAND, *map(str, arguments)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "CHANNELSIM_PASSPHRASE": PASSPHRASE},
    )
    return Side(directory, process)


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


@asynccontextmanager
async def blocks(chain: CrowdedChain, every: float) -> AsyncIterator[None]:
    """Make full blocks meanwhile."""

    async def farm() -> None:
        while True:
            await asyncio.sleep(every)
            chain.next_block()

    farming = asyncio.ensure_future(farm())
    try:
        yield
    finally:
        farming.cancel()
        await asyncio.gather(farming, return_exceptions=True)


async def until_offered(chain: CrowdedChain, coin: Coin, least: int) -> None:
    """Wait until peers have offered so many bundles with a fee for this coin, and no more."""
    async with asyncio.timeout(GUARD):
        count = -1
        while count < least or count != len(chain.paid_for(coin)):
            count = len(chain.paid_for(coin))
            await asyncio.sleep(0.3)


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

    async def play(url: str, sides: list[Side]) -> None:
        # Stakes of 1,000,000,000 mojos: a claim never costs more than it brings.
        terms = ("--game", "spacepoker", "--hands", "1", "--unit", "100000000", "--node", url)
        most = ("--max-fee", str(ENOUGH), "--max-fees", str(IN_ALL))
        second = await started(
            *(bob, "listen", *terms, *most, "--peer", prints[0], "--wallet-key", keys[1])
        )
        listening = address(await second.until("Listening"))
        first = await started(
            *(alice, "connect", "--address", listening, *terms, *most),
            *("--peer", prints[1], "--wallet-key", keys[0]),
        )
        sides += [first, second]
        async with blocks(chain, 0.3):
            await second.until("GameStarted")
        await killed(first, second)
        assert "pushes funding+fee: accepted" in {line["text"] for line in second.lines}
        opened = next(line["text"] for line in second.lines if line["event"] == "ChannelOpen")
        seen = chain.coin(bytes.fromhex(opened.split()[-1]))
        assert seen is not None
        coin = seen.coin

        poor = await recovering(bob, url, "--max-fee", TOO_LITTLE)
        sides.append(poor)
        await until_offered(chain, coin, 1)
        async with blocks(chain, 0.05):
            line = await poor.until("FeeTooLow")
        await killed(poor)
        assert f"its fee of {TOO_LITTLE} mojos rises no more" in line["text"]
        assert "start again with --max-fee" in line["text"]
        assert chain.coin(coin.id) == seen, "it is not spent"

        offered = chain.paid_for(coin)
        again = await recovering(bob, url)
        sides.append(again)
        await until_offered(chain, coin, len(offered) + 1)
        assert set(chain.paid_for(coin)[len(offered) :]) == {offered[-1]}, "the same bytes"
        await killed(again)
        rich = await recovering(bob, url, "--max-fee", ENOUGH)
        sides.append(rich)
        async with blocks(chain, 0.06):
            await rich.end()
        assert chain.paid_for(coin)[-1] not in offered

    with chain.served() as url:
        asyncio.run(all_ended(partial(play, url)))
