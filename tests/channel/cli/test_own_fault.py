"""A process that fails to handle a message leaves the channel, and says whose fault it is."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.machine import TRANSITIONS, Phase
from channelsim.channel.peer.peer_state import Transition
from channelsim.channel.store.keys_file import read_keys
from scripts.tools.bench.metered_node import MeteredNode
from tests.channel.cli.test_peer import GUARD, NAMES, Side, address, fingerprint, wallet_file
from tests.channel.cli.test_recover import blocks, dead_in_a_hand
from tests.channel.command import channelsim
from tests.channel.paced import OFTEN, nodes, paced_blocks
from tests.channel.table import sit
from tests.sampling import one_row_in

MENDED = "from channelsim.channel.cli import main; main()"
BROKEN = (
    """
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.machine import TRANSITIONS, Phase
from channelsim.channel.protocol.messages import Batch

handler = TRANSITIONS[Phase.PLAYING][Batch]

def handle(config, state, batch):
    if batch.number >= %d:
        raise InvariantError("planted")
    return handler(config, state, batch)

TRANSITIONS[Phase.PLAYING][Batch] = handle
"""
    + MENDED
)
"""A program that fails to handle batches from this number on."""


FULL = (
    """
import sqlite3
from channelsim.channel.store import sqlite_store
from channelsim.channel.store.sqlite_store import SqliteStore

writes, row = 0, sqlite_store._row

def counted(write):
    def call(*given):
        global writes
        writes += 1
        return write(*given)
    return call

def failing(*given):
    if writes > 2:
        raise sqlite3.OperationalError("database or disk is full")
    return row(*given)

SqliteStore.append = counted(SqliteStore.append)
SqliteStore.save_snapshot = counted(SqliteStore.save_snapshot)
sqlite_store._row = failing
"""
    + MENDED
)
"""A program whose disk is full after two writes."""


async def begin(program: str, node: MeteredNode, command: str, *arguments: object) -> Side:
    """Begin a peer with this node, as this program."""
    directory, *rest = map(str, arguments)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OFTEN + program, "peer", command, directory, *rest),
        *("--node", node.url, "--json"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    return Side(Path(directory), process, node)


async def killed(side: Side) -> None:
    side.process.kill()
    await side.process.communicate()


@pytest.mark.long
@pytest.mark.parametrize("number", [3, 7])
def test_a_process_that_cannot_handle_a_batch_goes_on_chain_and_a_mended_one_goes_on(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHANNELSIM_PASSPHRASE", "correct horse")
    chain = SimulatedChain(1)
    keys = [wallet_file(chain, tmp_path, name) for name in NAMES]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]
    settled: set[str] = set()

    async def play(ours: Sequence[MeteredNode]) -> None:
        terms = ("--game", "spacepoker", "--hands", "1", "--policy", "caller")
        receiver = ("--peer", prints[0], "--wallet-key", keys[1])
        second = await begin(BROKEN % number, ours[1], "listen", bob, *terms, *receiver)
        place = address(await second.until("Listening"))
        initiator = ("--peer", prints[1], "--wallet-key", keys[0], "--address", place)
        first = await begin(MENDED, ours[0], "connect", alice, *terms, *initiator)
        async with paced_blocks(chain.farm, first, second):
            told = await second.until("OwnFault")
        assert told["text"].startswith("breaks off by its own fault: InvariantError: planted;")
        await killed(second)
        # Once broken, and once mended: neither begins again.
        second = await begin(BROKEN % number, ours[1], "listen", bob, "--address", place)
        await second.until("Listening")
        await killed(second)
        second = await begin(MENDED, ours[1], "listen", bob, "--address", place)
        async with paced_blocks(chain.farm, first, second):
            for side in (first, second):
                settled.add((await side.until("ChannelSettled"))["text"])
                assert (await side.until("Ended"))["text"] == "the end"
                _, said = await side.process.communicate()
                assert (side.process.returncode, said) == (1, b"")

    with nodes(chain) as ours:
        asyncio.run(play(ours))
        configs = [read_keys(one, b"correct horse") for one in (alice, bob)]
    (text,) = settled
    paid = [
        int(one.replace(",", "")) for one in re.findall(r"(?:Initiator|Receiver) ([\d,]+)", text)
    ]
    assert sum(paid) == sum(configs[0].agreement.contributions)
    for config, amount in zip(configs, paid, strict=True):
        amounts = [seen.coin.amount for seen in chain.coins_at(config.reward_address)]
        # The largest one is the change of the wallet.
        assert sum(sorted(amounts)[:-1]) == amount


@pytest.mark.long
def test_a_process_whose_disk_is_full_again_and_again_gets_through_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHANNELSIM_PASSPHRASE", "correct horse")
    chain = SimulatedChain(1)
    keys = [wallet_file(chain, tmp_path, name) for name in NAMES]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]
    failures = 0

    async def play(ours: Sequence[MeteredNode]) -> None:
        nonlocal failures
        terms = ("--game", "spacepoker", "--hands", "1", "--policy", "folder")
        receiver = ("--peer", prints[0], "--wallet-key", keys[1])
        second = await begin(MENDED, ours[1], "listen", bob, *terms, *receiver)
        place = address(await second.until("Listening"))
        initiator = ("--peer", prints[1], "--wallet-key", keys[0], "--address", place)
        first = await begin(MENDED, ours[0], "connect", alice, *terms, *initiator)
        async with paced_blocks(chain.farm, first, second):
            await second.until("FundingSent")
        await killed(second)
        while True:
            second = await begin(FULL, ours[1], "listen", bob, "--address", place)
            async with paced_blocks(chain.farm, first, second):
                _, said = await asyncio.wait_for(second.process.communicate(), GUARD)
            if second.process.returncode in (0, 1):
                assert said == b""
                break
            failures += 1
            assert second.process.returncode == 2
            (text,) = said.decode().splitlines()
            assert text.endswith(
                "the disk is full; make room and start again: the peer has stopped, nothing is lost"
            )
        async with paced_blocks(chain.farm, first):
            _, said = await asyncio.wait_for(first.process.communicate(), GUARD)
        assert (first.process.returncode, said) == (second.process.returncode, b"")

    with nodes(chain) as ours:
        asyncio.run(play(ours))
    assert failures > 3


@pytest.mark.parametrize(
    ("error", "code", "text"),
    one_row_in(
        2,
        [
            (RuntimeError("a\nb"), 3, "internal error, a bug of ours: RuntimeError: a b"),
            (SystemExit(0), 3, "internal error, a bug of ours: InvariantError: SystemExit: 0"),
            (NodeError("the node is away"), 2, "the node is away"),
        ],
    ),
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_block_that_cannot_be_handled_ends_the_process_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    text: str,
) -> None:
    def fail(*given: object) -> Transition:
        raise error

    table = sit("no fallback")
    directory, _ = dead_in_a_hand(tmp_path, table, messages=12)
    for phase in (Phase.PLAYING, Phase.ON_CHAIN):
        monkeypatch.setitem(TRANSITIONS[phase], Block, fail)
    with table.chain.served() as url, blocks(table, reorganised_at=-1):
        for _ in range(2):
            ran = channelsim(capsys, "recover", directory, "--node", url, "--every", "0.02")
            assert ran.code == code
            assert ran.err.startswith(f"channelsim: {text}")
            assert ran.err.count("\n") == 1
    monkeypatch.undo()
    with table.chain.served() as url, blocks(table, reorganised_at=-1):
        ran = channelsim(capsys, "recover", directory, "--node", url, "--every", "0.02")
    assert (ran.code, ran.err) == (0, "")
