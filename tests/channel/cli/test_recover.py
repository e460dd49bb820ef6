"""`channelsim recover` and `close`: from the disk alone, to the last payout."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from shutil import copytree
from threading import Event, Thread
from typing import Any

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.peer.interface import Connected, Push, Received
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.phases.resuming import last_numbers
from channelsim.channel.protocol.messages import Funding, Request, decode, encode
from channelsim.channel.session.identity import node_seed
from channelsim.channel.store.data_directory import create, read_settings, write_settings
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import FILE, SqliteStore
from tests.channel.cli.test_streams import one_line, shell
from tests.channel.command import Ran, channelsim
from tests.channel.on_chain import reward
from tests.channel.store.test_data_directory import SETTINGS
from tests.channel.table import ANN, BALANCE, BEN, CONFIRMATIONS, STAKE, Table, sit
from tests.sampling import one_in

COMMAND = "from channelsim.channel.cli import main; main()"
GUARD = 120.0


def dead_in_a_hand(
    folder: Path, table: Table, messages: int = 16, address: str = ""
) -> tuple[Path, Path]:
    """Both peers play until a game is live and then die: their data directories.

    With an address, Ben listens there, and Ann connects to him.
    """
    places = []
    stores = []
    for end in table.ends:
        make_identity(folder / end.driven.name)
    for index, end in enumerate(table.ends):
        directory, other = folder / end.driven.name, folder / table.ends[1 - index].driven.name
        settings = replace(
            SETTINGS,
            listens=index == BEN,
            address=address or SETTINGS.address,
            counterparty=read_identity(other).fingerprint,
        )
        create(directory, end.peer.config, settings)
        stores.append(SealedStore(SqliteStore(directory), end.peer.config.secret))
        end.driven.actor = DurablePeer(Peer(end.peer.config), stores[index])
        places.append(directory)
    table.open().propose(ANN)
    while len(table.sent) < messages:
        assert table.step()
    assert all(end.state.games for end in table.ends)
    for store in stores:
        store.close()
    return places[0], places[1]


@contextmanager
def blocks(table: Table, reorganised_at: int) -> Iterator[None]:
    """Make blocks meanwhile, and once replace two of them without their bundles."""
    done = Event()

    def farm() -> None:
        number = 0
        while not done.wait(0.06):
            number += 1
            table.chain.farm()
            if number == reorganised_at:
                table.chain.reorganise(2, 3, keep=False)

    farming = Thread(target=farm)
    farming.start()
    try:
        yield
    finally:
        done.set()
        farming.join()


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_hand_is_recovered_from_the_disk_though_blocks_are_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = sit("recover")
    directory, _ = dead_in_a_hand(tmp_path, table)
    with table.chain.served() as url, blocks(table, reorganised_at=19):
        ran = channelsim(capsys, "recover", directory, "--node", url, "--every", "0.02", "--json")
    assert (ran.code, ran.err) == (0, "")
    paid = reward(table, ANN)
    # The other side is dead: the game goes to whoever waited for it, or is split.
    assert BALANCE - STAKE <= paid <= BALANCE + STAKE
    events = [line["event"] for line in lines(ran.out)]
    assert "ChannelSettled" in events
    assert lines(ran.out)[-1]["text"].startswith(f"the channel has ended: {paid:,} mojos")
    with table.chain.served() as url:
        for command in ("recover", "close"):
            again = channelsim(capsys, command, directory, "--node", url, "--json")
            assert (again.code, again.err) == (0, "")
            # The other side is not looked for.
            (line,) = lines(again.out)
            assert f"{paid:,} mojos" in line["text"]
        ended = channelsim(capsys, "peer", "connect", directory, "--node", url, "--json")
        assert (ended.code, ended.err) == (1, "")
        assert [line["event"] for line in lines(ended.out)] == ["HandsUnplayed", "Ended"]


@pytest.mark.parametrize("how", one_in(2, ["--json", "--text"]))
def test_a_reader_that_goes_ends_a_peer_in_one_line(tmp_path: Path, how: str) -> None:
    """Exit code 0 would say that the channel has ended."""
    table = sit("reader")
    directory, _ = dead_in_a_hand(tmp_path, table, messages=12)
    with table.chain.served() as url, blocks(table, reorganised_at=-1):
        ran = shell(f"channelsim recover {directory} --node {url} --every 0.02 {how} | head -c 1")
    assert "the reader of the output has gone" in one_line(ran)


def failed_opening(folder: Path) -> tuple[Table, Path, Bundle]:
    """Ann's data directory after her opening has failed, and the funding that Ben kept."""
    table, directory = sit("late funding"), folder / "ann"
    ann, ben = table.ends
    create(directory, ann.peer.config, SETTINGS)
    make_identity(directory)
    with closing(SqliteStore(directory)) as store:
        ann.driven.actor = DurablePeer(
            Peer(ann.peer.config), SealedStore(store, ann.peer.config.secret)
        )
        table.start().pump(
            lambda _, message: None if isinstance(decode(message), Funding) else message
        )
        part = next(blob for _, blob in table.sent if isinstance(decode(blob), Funding))
        kept = Peer(ben.peer.config, ben.peer.state).handle(Received(part))
        (bundle,) = [one.bundle for one in kept if isinstance(one, Push)]
        opened = ann.peer.state.opening.opened
        assert opened is not None
        table.farm(opened.deadline - table.chain.peak())
        assert ann.peer.phase is Phase.FAILED
    return table, directory, bundle


@pytest.mark.parametrize("command", [("recover",), ("close", "--unilateral")])
@pytest.mark.parametrize("before", [True, False])
def test_a_failed_opening_that_is_funded_in_the_end_is_recovered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], before: bool
) -> None:
    """By a reorganisation of one block, before the command starts or while it watches."""
    table, directory, bundle = failed_opening(tmp_path)
    if before:
        table.chain.reorganise(1, 2, keep=True, bundle=bundle)
    with table.chain.served() as url, watched_blocks(table, None if before else bundle):
        ran = channelsim(capsys, *command, directory, "--node", url, "--every", "0.02", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert lines(ran.out)[-1]["text"].startswith(f"the channel has ended: {BALANCE:,} mojos")
    assert reward(table, ANN) == BALANCE


def test_a_failed_opening_ends_once_no_reorganisation_can_fund_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, directory, bundle = failed_opening(tmp_path)
    deadline = table.chain.peak()
    shown = channelsim(capsys, "channels", directory, "--text").out
    assert f"a late funding, up to this height: height {deadline + CONFIRMATIONS}" in shown
    with table.chain.served() as url, watched_blocks(table, None):
        ran = channelsim(capsys, "recover", directory, "--node", url, "--every", "0.02", "--text")
    assert (ran.code, ran.err) == (0, "")
    assert table.chain.peak() >= deadline + CONFIRMATIONS
    assert f"past its deadline {deadline}; the wallet's coin is free" in ran.out
    # A deeper reorganisation brings it in all the same: the next look sees it.
    back = table.chain.peak() - deadline + 1
    table.chain.reorganise(back, back + 1, keep=True, bundle=bundle)
    with table.chain.served() as url, watched_blocks(table, None):
        again = channelsim(capsys, "recover", directory, "--node", url, "--text")
    assert (again.code, again.err) == (0, "")
    assert f"the channel has ended: {BALANCE:,} mojos" in again.out


@contextmanager
def watched_blocks(table: Table, bundle: Bundle | None) -> Iterator[None]:
    """Make blocks meanwhile; first replace the last one by one with this bundle."""
    done = Event()

    def farm() -> None:
        done.wait(0.3)
        if bundle is not None:
            table.chain.reorganise(1, 2, keep=True, bundle=bundle)
        while not done.wait(0.06):
            table.chain.farm()

    farming = Thread(target=farm)
    farming.start()
    try:
        yield
    finally:
        done.set()
        farming.join()


def test_a_copy_from_before_the_funding_does_not_say_that_there_was_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = sit("funded later")
    config = table.ends[ANN].peer.config
    create(tmp_path / "ann", config, SETTINGS)
    with closing(SealedStore(SqliteStore(tmp_path / "ann"), config.secret)) as store:
        DurablePeer(Peer(config), store).start(table.chain.peak())

    def run(*command: str) -> Ran:
        with table.chain.served() as url:
            return channelsim(capsys, *command, tmp_path / "ann", "--node", url, "--text")

    ran = run("recover")
    assert (ran.code, ran.err) == (0, "")
    assert "not funded" in ran.out
    assert "the wallet's coin is free" in ran.out
    table.open()
    make_identity(tmp_path / "ann")
    for command in (("recover",), ("peer", "connect"), ("recover",)):
        ran = run(*command)
        assert ran.code == 2
        assert "not funded" not in ran.out
        assert "the wallet's coin was spent at height" in ran.err
        assert ran.err.count("\n") == 1
        # A command may have written an event of its own, sealed.
        with closing(SealedStore(SqliteStore(tmp_path / "ann"), config.secret)) as sealed:
            # What the other side says in play ends an opening.
            DurablePeer(Peer(config), sealed).handle(Received(encode(Request())))


def test_an_unsealed_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = sit("unsealed")
    config, directory = table.ends[ANN].peer.config, tmp_path / "ann"
    create(directory, config, SETTINGS)
    with closing(SqliteStore(directory)) as store:
        DurablePeer(Peer(config), store).start(table.chain.peak())
    with table.chain.served() as url:
        run = partial(channelsim, capsys)
        for command in (("recover", directory, "--node", url), ("channels", directory)):
            ran = run(*command)
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
            assert f"{directory / FILE}: damaged: its event is not sealed" in ran.err


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COMMAND, *map(str, arguments), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start_node(log: Path, seed: str, address: str) -> tuple[subprocess.Popen[str], str]:
    node = start(
        *("node", "--state", log, "--seed", seed, "--wallets", 0),
        *("--listen", address, "--block-every", 0.15),
    )
    assert node.stdout is not None
    return node, json.loads(node.stdout.readline())["url"]


@pytest.mark.long
def test_both_sides_recover_in_processes_though_they_and_the_node_are_killed(
    tmp_path: Path,
) -> None:
    seed, log = "recover", tmp_path / "chain"
    with stored_chain(log, node_seed(seed.encode())) as chain:
        table = sit(seed, chain=chain)
        places = dead_in_a_hand(tmp_path, table)
    processes: list[subprocess.Popen[str]] = []
    node, url = start_node(log, seed, "127.0.0.1:0")
    try:
        recoveries = [start("recover", one, "--node", url, "--every", 0.05) for one in places]
        processes += recoveries
        time.sleep(3)
        node.kill()
        recoveries[BEN].kill()
        node.communicate()
        node, again = start_node(log, seed, url.removeprefix("http://"))
        assert again == url
        recoveries[BEN] = start("recover", places[BEN], "--node", url, "--every", 0.05)
        processes.append(recoveries[BEN])
        for process in recoveries:
            out, err = process.communicate(timeout=GUARD)
            assert process.returncode == 0, err
            assert "ChannelSettled" in [line["event"] for line in lines(out)]
        with RpcChain(url) as client:
            addresses = [end.peer.config.reward_address for end in table.ends]
            paid = [
                sum(seen.coin.amount for seen in client.coins_at(address)) for address in addresses
            ]
        assert sum(paid) == 2 * BALANCE
        assert all(BALANCE - STAKE <= one <= BALANCE + STAKE for one in paid)
    finally:
        for process in (node, *processes):
            process.kill()
            process.communicate()


@pytest.mark.long
def test_both_sides_close_together_after_playing_the_hand_to_its_end(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    table = sit("close")
    places = dead_in_a_hand(tmp_path, table, address=address)
    with table.chain.served() as url, blocks(table, reorganised_at=-1):
        sides = [start("close", place, "--node", url, "--every", 0.05) for place in places]
        ended = [side.communicate(timeout=GUARD) for side in sides]
    assert [side.returncode for side in sides] == [0, 0], ended
    for out, _ in ended:
        events = [line["event"] for line in lines(out)]
        assert "ChannelClosed" in events
        assert "UnrollSeen" not in events
    paid = reward(table, ANN), reward(table, BEN)
    assert sum(paid) == 2 * BALANCE
    assert paid != (BALANCE, BALANCE), "the hand was played"


@pytest.mark.long
def test_a_close_on_chain_needs_no_other_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = sit("unilateral")
    _, directory = dead_in_a_hand(tmp_path, table, messages=12)
    with table.chain.served() as url, blocks(table, reorganised_at=-1):
        ran = channelsim(
            capsys, "close", directory, "--node", url, "--every", "0.02", "--unilateral", "--json"
        )
    assert (ran.code, ran.err) == (0, "")
    assert "ChannelSettled" in [line["event"] for line in lines(ran.out)]
    assert reward(table, BEN) >= BALANCE - STAKE


@pytest.mark.parametrize("command", ["recover", "channels"])
def test_what_cannot_be_used_is_refused_in_one_line_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    directory, held = dead_in_a_hand(tmp_path, sit("refused"), messages=12)
    keys = (directory / "keys.json").read_bytes()
    with SimulatedChain(1).served() as url:
        options = () if command == "channels" else ("--node", url)

        def refused(
            reason: str, place: Path = directory, *more: object, by: tuple[str, ...] = (command,)
        ) -> None:
            before = contents(place)
            ran = channelsim(capsys, *by, place, *options, *more)
            assert (ran.code, ran.out) == (2, "")
            assert reason in ran.err
            assert ran.err.count("\n") == 1
            assert contents(place) == before

        if options:
            with closing(SqliteStore(held)):
                refused("another process uses it", held)
                other = ("--policy", "folder")
                refused("another process uses it", held, *other, by=("peer", "listen"))
            refused("--policy nonsense: spacepoker has", directory, "--policy", "nonsense")
            write_settings(held, replace(read_settings(held), adversary="stale-oldest"))
            refused("an adversary stores nothing", held)
        (directory / "keys.json").write_bytes(keys[:100])
        refused("no file with keys")
        (directory / "keys.json").write_bytes(keys)
        with closing(sqlite3.connect(directory / FILE)) as database:
            database.execute("PRAGMA user_version = 99")
        refused("other code of channelsim (schema 99; this one has schema 4)")
        (directory / FILE).write_bytes(b"something else, and long enough\n")
        refused("not a store of channelsim")
        (directory / "keys.json").unlink()
        refused("restore it from a backup")
        (directory / FILE).unlink()
        refused("no channel is here")


def contents(folder: Path) -> dict[str, bytes]:
    shared_memory = f"{FILE}-shm"
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name != shared_memory}


def old_copy(folder: Path, table: Table) -> tuple[Path, Path]:
    """A copy of Ann's directory from before the game, as it is and as one that knows its age."""
    directory = folder / "ann"
    make_identity(directory)
    end, other = table.ends
    settings = replace(SETTINGS, listens=False)
    create(directory, end.peer.config, settings)

    def opened(place: Path) -> SealedStore:
        return SealedStore(SqliteStore(place), end.peer.config.secret)

    with closing(opened(directory)) as store:
        end.driven.actor = DurablePeer(Peer(end.peer.config), store)
        table.open()
        copytree(directory, folder / "copy")
        table.propose(ANN).until(lambda: other.state.number > 9 and not table.mail).go_on()
    copytree(folder / "copy", folder / "knows")
    with closing(opened(folder / "knows")) as store:
        peer = DurablePeer(Peer(end.peer.config), store)
        peer.start(table.chain.peak())
        peer.handle(Block(table.chain.peak()))
        peer.handle(Connected())
        peer.handle(Received(encode(last_numbers(other.play))))
        assert peer.peer.phase is Phase.OUTDATED
    return folder / "copy", folder / "knows"


def test_an_old_copy_is_published_only_if_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = sit("old copy")
    copy, knows = old_copy(tmp_path, table)
    with table.chain.served() as url, blocks(table, reorganised_at=-1):
        run = partial(channelsim, capsys, "recover")
        options = ("--node", url, "--every", "0.02", "--json")
        ran = run(copy, *options, "--publish-old")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "nothing has shown that its store is an old copy" in ran.err
        monkeypatch.setattr(sys, "stdin", Terminal("no\n"))
        ran = run(knows, *options, "--publish-old")
        assert (ran.code, ran.out) == (2, "")
        assert "not confirmed: nothing was published" in ran.err
        assert reward(table, ANN) == 0
        monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
        ran = run(knows, *options, "--publish-old")
        assert (ran.code, ran.err.count("--publish-old publishes state 0")) == (0, 1)
    assert "LeftForChain" in [line["event"] for line in lines(ran.out)]
    assert reward(table, ANN) == BALANCE, "the other side let its old state stand"


class Terminal(StringIO):
    """A terminal at which this was typed."""

    def isatty(self) -> bool:
        return True


def test_without_the_option_an_old_copy_waits_and_says_so(tmp_path: Path) -> None:
    table = sit("old copy waits")
    _, knows = old_copy(tmp_path, table)
    with table.chain.served() as url, blocks(table, reorganised_at=-1):
        process = start("recover", knows, "--node", url, "--every", 0.02)
        try:
            assert process.stdout is not None
            line = json.loads(process.stdout.readline())
            assert line["event"] == "OldCopy"
            assert "`recover --publish-old` publishes what the copy has" in line["text"]
            time.sleep(0.5)
            assert process.poll() is None
        finally:
            process.kill()
            process.communicate()
    assert reward(table, ANN) == 0
