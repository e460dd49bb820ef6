"""Two sides of a channel in processes of their own, over connections that break, on one node."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.peaks import PUBLIC
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.protocol.wallet import address_of, wallet_key, wallet_seed
from channelsim.channel.store.data_directory import read_settings
from channelsim.channel.store.keys_file import read_terms
from scripts.tools.bench.metered_node import MeteredNode
from tests.channel.command import channelsim
from tests.channel.paced import OFTEN, nodes, paced_blocks
from tests.sampling import one_row_in

COMMAND = "import sys; from channelsim.channel.cli import main; sys.exit(main())"
PEER = OFTEN + COMMAND
GUARD = 120.0
NAMES = ("alice", "bob")
PASSPHRASE = "correct horse"


@dataclass
class Side:
    """One side's process, the lines that it has printed, and its node if that is its own."""

    directory: Path
    process: asyncio.subprocess.Process
    node: MeteredNode | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)

    async def until(self, event: str) -> dict[str, Any]:
        """Read lines until one of this event."""
        assert self.process.stdout is not None
        while True:
            line = await asyncio.wait_for(self.process.stdout.readline(), GUARD)
            assert line, f"{self.directory.name} ended before {event}"
            self.lines.append(json.loads(line))
            if self.lines[-1]["event"] == event:
                return self.lines[-1]

    async def end(self) -> dict[str, Any]:
        """The last line; the side must succeed."""
        last = await self.until("Ended")
        assert await asyncio.wait_for(self.process.wait(), GUARD) == 0, last
        return last


async def started(directory: Path, *arguments: str, node: MeteredNode | None = None) -> Side:
    """Begin a peer; with a node of its own, blocks can wait for it."""
    program, options = (COMMAND, ()) if node is None else (PEER, ("--node", node.url))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, "peer", arguments[0], str(directory), *arguments[1:]),
        *(*options, "--json"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "CHANNELSIM_PASSPHRASE": PASSPHRASE},
    )
    return Side(directory, process, node)


def address(line: dict[str, Any]) -> str:
    """The address in the line of a side that listens."""
    return str(line["text"]).split()[2].removesuffix(",")


FAULTS = ("duplicated", "reordered", "delayed")
"""What happens to the connections, in turns."""


@dataclass
class Proxy:
    """Forwards connections to another address, and harms each after some bytes.

    Some bytes come twice, or after those that follow them; or all of them come late, until the
    connection is cut.
    """

    port: int
    bytes: int
    harmed: list[str] = field(default_factory=list)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fault = FAULTS[len(self.harmed) % len(FAULTS)]
        with suppress(OSError):
            there, back = await asyncio.open_connection("127.0.0.1", self.port)
            ways = [
                asyncio.ensure_future(self._copy(fault, *way))
                for way in ((reader, back), (there, writer))
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            back.transport.abort()
        self.harmed.append(fault)
        writer.transport.abort()

    async def _copy(
        self, fault: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        left = self.bytes
        while data := await reader.read(1000):
            left -= len(data)
            if fault == "delayed":
                await asyncio.sleep(0.05)
            if left < 0:
                if fault == "delayed":
                    return
                half = len(data) // 2
                data = data * 2 if fault == "duplicated" else data[half:] + data[:half]
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def harming(port: int, after: int) -> AsyncIterator[tuple[Proxy, int]]:
    proxy = Proxy(port, after)
    server = await asyncio.start_server(proxy.forward, "127.0.0.1", 0)
    async with server:
        yield proxy, server.sockets[0].getsockname()[1]


def wallet_file(chain: FarmableChain, folder: Path, name: str) -> Path:
    """A file with the key of a new wallet that has a coin."""
    from chia_wallet_sdk import SecretKey

    chain.give(address_of(wallet_key(name.encode(), "test")), 1)
    path = folder / f"{name}.key"
    path.write_text(SecretKey.from_seed(wallet_seed(name.encode(), "test")).to_bytes().hex())
    return path


def fingerprint(directory: Path) -> str:
    make_identity(directory, PASSPHRASE.encode())
    return read_identity(directory, PASSPHRASE.encode()).fingerprint


@pytest.mark.long
def test_two_processes_end_with_equal_balances_though_connections_are_harmed(
    tmp_path: Path,
) -> None:
    """On a network whose signatures are not for its genesis challenge."""
    chain = SimulatedChain(1, NodeSettings(agg_sig_data=bytes(32)))
    keys = [str(wallet_file(chain, tmp_path, name)) for name in NAMES]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]

    async def play(ours: Sequence[MeteredNode]) -> None:
        terms = ("--game", "spacepoker", "--hands", "1", "--policy", "folder")
        second = await started(
            *(bob, "listen", *terms, "--peer", prints[0], "--wallet-key", keys[1]), node=ours[1]
        )
        listening = address(await second.until("Listening"))
        async with harming(int(listening.rpartition(":")[2]), 3000) as (proxy, outside):
            first = await started(
                *(alice, "connect", "--address", f"127.0.0.1:{outside}", *terms),
                *("--peer", prints[1], "--wallet-key", keys[0]),
                node=ours[0],
            )
            async with paced_blocks(chain.farm, first, second):
                ends = await asyncio.gather(first.end(), second.end())
            assert set(proxy.harmed) == set(FAULTS)
        assert ends[0]["text"] == ends[1]["text"]
        assert ends[0]["text"].startswith("the end; balances Initiator ")

    with nodes(chain) as ours:
        asyncio.run(play(ours))


@pytest.mark.long
def test_two_processes_end_with_equal_balances_though_both_stop_and_connections_are_harmed(
    tmp_path: Path,
) -> None:
    """One is killed in a hand, the other interrupted; both go on from their directories."""
    chain = SimulatedChain(1)
    keys = [str(wallet_file(chain, tmp_path, name)) for name in NAMES]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]

    async def play(ours: Sequence[MeteredNode]) -> None:
        terms = ("--game", "spacepoker", "--hands", "2")
        second = await started(
            *(bob, "listen", *terms, "--peer", prints[0], "--wallet-key", keys[1]), node=ours[1]
        )
        listening = address(await second.until("Listening"))
        async with harming(int(listening.rpartition(":")[2]), 9000) as (proxy, outside):
            first = await started(
                *(alice, "connect", "--address", f"127.0.0.1:{outside}", *terms),
                *("--peer", prints[1], "--wallet-key", keys[0]),
                node=ours[0],
            )
            async with paced_blocks(chain.farm, first, second):
                await second.until("GameStarted")
            second.process.kill()
            first.process.send_signal(signal.SIGINT)
            await first.until("Interrupted")
            assert await asyncio.wait_for(first.process.wait(), GUARD) == 130
            assert await second.process.wait() == -signal.SIGKILL
            first = await started(alice, "connect", node=ours[0])
            second = await started(bob, "listen", "--address", listening, node=ours[1])
            async with paced_blocks(chain.farm, first, second):
                ends = await asyncio.gather(first.end(), second.end())
            assert len(proxy.harmed) > 1
        assert ends[0]["text"] == ends[1]["text"]
        assert ends[0]["text"].startswith("the end; balances Initiator ")
        assert b"encrypted" in (alice / "keys.json").read_bytes()

    with nodes(chain) as ours:
        asyncio.run(play(ours))


@pytest.mark.long
def test_a_process_says_how_many_hands_were_not_played(tmp_path: Path) -> None:
    """The sides disagree on the number of hands: the one that wanted more fails."""
    chain = SimulatedChain(1)
    keys = [str(wallet_file(chain, tmp_path, name)) for name in NAMES]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]

    async def play(ours: Sequence[MeteredNode]) -> None:
        terms = ("--game", "spacepoker")
        second = await started(
            *(bob, "listen", *terms, "--hands", "1"),
            *("--peer", prints[0], "--wallet-key", keys[1]),
            node=ours[1],
        )
        listening = address(await second.until("Listening"))
        first = await started(
            *(alice, "connect", "--address", listening, *terms, "--hands", "2"),
            *("--peer", prints[1], "--wallet-key", keys[0]),
            node=ours[0],
        )
        async with paced_blocks(chain.farm, first, second):
            line = await first.until("HandsUnplayed")
            assert line["text"] == "1 of 2 hands played: the receiver asked for the shutdown"
            assert (line["asked"], line["played"], line["excused"]) == (2, 1, False)
            await first.until("Ended")
            assert await asyncio.wait_for(first.process.wait(), GUARD) == 1
            await second.end()
        assert all(line["event"] != "HandsUnplayed" for line in second.lines)

    with nodes(chain) as ours:
        asyncio.run(play(ours))


@pytest.mark.long
def test_an_adversary_is_preempted_by_the_other_process(tmp_path: Path) -> None:
    chain = SimulatedChain(1)
    keys = [str(wallet_file(chain, tmp_path, name)) for name in NAMES]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]

    async def play(ours: Sequence[MeteredNode]) -> None:
        terms = ("--game", "spacepoker", "--hands", "9")
        honest = await started(
            *(bob, "listen", *terms, "--peer", prints[0], "--wallet-key", keys[1]), node=ours[1]
        )
        listening = address(await honest.until("Listening"))
        cheat = await started(
            *(alice, "connect", "--address", listening, *terms),
            *("--adversary", "stale-oldest", "--peer", prints[1], "--wallet-key", keys[0]),
            node=ours[0],
        )
        async with paced_blocks(chain.farm, cheat, honest):
            for side in (cheat, honest):
                await side.until("Ended")
                assert await asyncio.wait_for(side.process.wait(), GUARD) == 1
        said = {line["text"] for line in honest.lines}
        assert "pushes preempt: accepted" in said
        assert any(line["event"] == "ChannelSettled" for line in honest.lines)
        again = await started(alice, "connect", node=ours[0])
        assert await asyncio.wait_for(again.process.wait(), GUARD) == 2, "it keeps nothing"

    with nodes(chain) as ours:
        asyncio.run(play(ours))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("listen",), "--node: name the URL"),
        (("listen", "--node", "http://127.0.0.1:9", "NEW"), "cannot be reached"),
        (("listen", "--node", "URL"), "a new DIR needs --peer, --wallet-key and --game"),
        (("connect", "--node", "URL", "NEW"), "--address: name where the receiver listens"),
        (("listen", "--node", "URL", "NEW", "--peer", "00"), "64 hex digits"),
        (("listen", "--node", "URL", "NEW", "--address", "8"), "an address is HOST:PORT"),
        (("listen", "--node", "URL", "NEW", "--game", "chess"), "chess"),
        (("listen", "--node", "URL", "NEW", "--policy", "bold"), "--policy bold"),
        (("listen", "--node", "URL", "NEW", "--balance", "1"), "does not cover one stake"),
        (("listen", "--node", "URL", "NEW", "--spacing", "0"), "a whole number from 1 to 100"),
        (("listen", "--node", "URL", "NEW", "--spacing", "101"), "a whole number from 1 to 100"),
        (
            ("listen", "--node", "URL", "NEW", "--spacing", "4", "--unroll-timeout", "31"),
            "an unroll timeout of 31 blocks is too short: at least 32 (spacing 4)",
        ),
        (
            ("listen", "--node", "URL", "NEW", "--spacing", "4", "--game-timeout", "43"),
            "a game timeout of 43 blocks is too short for spacepoker: at least 44 (spacing 4)",
        ),
        (
            ("listen", "--node", "URL", "NEW", "--unroll-timeout", "7"),
            "an unroll timeout of 7 blocks is too short: at least 8",
        ),
        (("listen", "--node", "URL", "NEW", "--wallet-key", "DIR/none"), "none"),
        (("listen", "--node", "URL", "NEW", "--wallet-key", "DIR/bad.key"), "64 hex digits"),
        (("listen", "--node", "URL", "NEW", "--wallet-key", "DIR/poor.key"), "no coin"),
        (("listen", "--node", "URL", "NEW", "--adversary", "nobody"), "no adversary"),
    ],
)
def test_wrong_options_are_refused_in_one_line_and_leave_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    chain = SimulatedChain(1)
    key = wallet_file(chain, tmp_path, "bob")
    (tmp_path / "bad.key").write_text("no key")
    (tmp_path / "poor.key").write_text("11" * 32)
    new = ("--game", "spacepoker", "--peer", "0" * 64, "--wallet-key", str(key))
    with chain.served() as url:
        replaced = [url if one == "URL" else one.replace("DIR", str(tmp_path)) for one in arguments]
        given = [one for part in replaced for one in (new if part == "NEW" else (part,))]
        directory = tmp_path / "new"
        ran = channelsim(capsys, "peer", given[0], str(directory), *given[1:])
    assert (ran.code, ran.out) == (2, "")
    assert reason in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not directory.exists()


@pytest.mark.parametrize(
    ("network", "options", "times"),
    one_row_in(
        2,
        [
            ("home", (), (1, 15, 15)),
            ("home", ("--spacing", "4"), (4, 60, 60)),
            ("public", (), (4, 60, 60)),
            ("public", ("--unroll-timeout", "32", "--game-timeout", "44"), (4, 32, 44)),
        ],
    ),
)
def test_the_spacing_follows_from_the_network_and_the_timeouts_from_the_spacing(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    network: str,
    options: tuple[str, ...],
    times: tuple[int, int, int],
) -> None:
    data = next(iter(PUBLIC)) if network == "public" else None
    chain = SimulatedChain(1, NodeSettings(agg_sig_data=data))
    key = str(wallet_file(chain, tmp_path, "bob"))
    directory = tmp_path / "new"
    fingerprint(directory)

    async def stopped(*_: object) -> bool:
        return False

    # The directory is complete before the peer runs.
    monkeypatch.setattr("channelsim.channel.cli.running.until_interrupted", stopped)
    monkeypatch.setattr("channelsim.channel.cli.running.run_linked", lambda *_: None)
    monkeypatch.setenv("CHANNELSIM_PASSPHRASE", PASSPHRASE)
    new = ("--game", "spacepoker", "--peer", "0" * 64, "--wallet-key", key)
    with chain.served() as url:
        ran = channelsim(capsys, "peer", "listen", directory, *new, *options, "--node", url)
    assert ran.err == ""
    terms = read_terms(directory)
    assert (terms.spacing, terms.unroll_timeout, read_settings(directory).game_timeout) == times
    ran = channelsim(capsys, "peer", "listen", directory, "--spacing", "4")
    assert (ran.code, ran.out) == (2, "")
    assert "has a channel already, with terms of its own" in ran.err


def test_a_key_of_another_passphrase_begins_no_channel(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chain = SimulatedChain(1)
    (tmp_path / "pass").write_text("passphrase")
    make_identity(tmp_path / "new")
    new = ("--game", "spacepoker", "--peer", "0" * 64, "--wallet-key")
    key = wallet_file(chain, tmp_path, "bob")
    with chain.served() as url:
        given = (*new, key, "--node", url, "--passphrase-file", tmp_path / "pass")
        ran = channelsim(capsys, "peer", "listen", tmp_path / "new", *given)
    assert (ran.code, ran.out) == (2, "")
    assert "was made without a passphrase" in ran.err
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["connection.pem"]
