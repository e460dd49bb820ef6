"""`close`, `recover` and `watch` on a genuine node, which replaces blocks, is killed, or syncs."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, cast

import pytest

from channelsim.channel.chain.coins import joined
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.simulation.crowd import CrowdedChain, CrowdSize
from channelsim.channel.watch.watcher import Watcher
from tests.channel.cli.test_peer import wallet_file
from tests.channel.cli.test_recover import dead_in_a_hand, lines, start
from tests.channel.cli.test_watch_command import key_file
from tests.channel.command import channelsim
from tests.channel.disputes import publish_old, received
from tests.channel.on_chain import reward
from tests.channel.table import ANN, BALANCE, BEN, STAKE, Table, sit
from tests.channel.watch.test_watch import watched
from tests.real_node.chain import RealChain
from tests.real_node.process import RealNode
from tests.real_node.test_sessions import of_node

GUARD = 240.0
BLOCK_TIME = 0.25


def sit_on(chain: RealChain, seed: str) -> Table:
    """Two peers with a wallet coin each on the genuine node."""
    # A table uses what every chain whose blocks we make has.
    return sit(f"genuine {seed}", chain=cast(SimulatedChain, chain))


@contextmanager
def blocks(change: Callable[[int], None]) -> Iterator[None]:
    """Change the chain now and then meanwhile; `change` takes the number of the time."""
    done, failed = Event(), list[BaseException]()

    def farm() -> None:
        number = 0
        try:
            while not done.wait(BLOCK_TIME):
                number += 1
                change(number)
        except BaseException as error:
            failed.append(error)

    farming = Thread(target=farm)
    farming.start()
    try:
        yield
    finally:
        done.set()
        farming.join()
    assert not failed, failed


def test_a_hand_is_recovered_though_blocks_are_replaced_in_the_dispute(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], chain: RealChain, node: RealNode
) -> None:
    table = sit_on(chain, "recover")
    directory, _ = dead_in_a_hand(tmp_path, table)

    def change(number: int) -> None:
        chain.farm()
        if number == 19:
            chain.reorganise(2, 3, keep=False)

    with blocks(change):
        ran = channelsim(capsys, "recover", directory, *of_node(node), "--every", "0.05", "--json")
    assert (ran.code, ran.err) == (0, "")
    paid = reward(table, ANN)
    assert BALANCE - STAKE <= paid <= BALANCE + STAKE
    assert "ChannelSettled" in [line["event"] for line in lines(ran.out)]
    assert lines(ran.out)[-1]["text"].startswith(f"the channel has ended: {paid:,} mojos")


def test_a_unilateral_close_though_the_node_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with RealNode("closed") as node, RealChain(node) as chain:
        table = sit_on(chain, "unilateral")
        _, directory = dead_in_a_hand(tmp_path, table, messages=12)

        def change(number: int) -> None:
            if number == 12:
                node.kill()
                time.sleep(2)
                node.start()
            chain.farm()

        with blocks(change):
            options = (*of_node(node), "--every", "0.05", "--unilateral", "--json")
            ran = channelsim(capsys, "close", directory, *options)
        assert ran.code == 0
        said = ran.err.splitlines()
        assert said[0].endswith("asking again"), said
        assert said[-1].endswith("the node answers again"), said
        assert "ChannelSettled" in [line["event"] for line in lines(ran.out)]
        assert reward(table, BEN) >= BALANCE - STAKE


def test_both_sides_close_together(tmp_path: Path, chain: RealChain, node: RealNode) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    table = sit_on(chain, "close")
    places = dead_in_a_hand(tmp_path, table, address=address)
    with blocks(lambda number: chain.farm()):
        sides = [start("close", place, *of_node(node), "--every", 0.05) for place in places]
        ended = [side.communicate(timeout=GUARD) for side in sides]
    assert [side.returncode for side in sides] == [0, 0], ended
    for out, _ in ended:
        events = [line["event"] for line in lines(out)]
        assert "ChannelClosed" in events
        assert "UnrollSeen" not in events
    assert reward(table, ANN) + reward(table, BEN) == 2 * BALANCE


def test_a_watcher_in_a_process_preempts_a_stale_state(
    tmp_path: Path, chain: RealChain, node: RealNode
) -> None:
    table = sit_on(chain, "watched").open().propose(ANN)
    ours = watched(tmp_path / "watch", table)
    while len(table.sent) < 15:
        assert table.step()
    newest = table.ends[ANN].play.newest.state.number
    stale = received(table, BEN)[1]
    assert stale < newest
    tower = tmp_path / "tower"
    shutil.copytree(ours.folder, tower)
    watcher = start("watch", tower, *of_node(node), "--every", 0.05, "--wait", 2)
    assert watcher.stdout is not None

    def line() -> dict[str, Any]:
        assert watcher.stdout is not None
        found: dict[str, Any] = json.loads(watcher.stdout.readline())
        return found

    try:
        assert line()["step"] == "open"
        publish_old(table, BEN, stale)
        chain.farm()
        found = line()
        assert (found["step"], found["state"]) == ("stale", stale)
        chain.farm(2)
        assert line()["pushed"] == "accepted"
        chain.farm()
        # A look may fall before the block and its push after it: such a push is refused.
        while (found := line())["step"] == "stale":
            assert found["state"] == stale
        assert (found["step"], found["state"]) == ("paid", newest)
        chain.farm(3)
        assert line()["final"]
        assert watcher.wait(timeout=GUARD) == 0
    finally:
        watcher.kill()
        watcher.communicate()


def test_a_watcher_pays_for_a_pinned_preemption_while_blocks_are_full(
    tmp_path: Path, chain: RealChain, node: RealNode
) -> None:
    """A thief takes what is pending into a bundle of low rate, and a crowd keeps that out."""
    rate, most = 10, 4 * 10**9
    table = sit_on(chain, "fees").open().propose(ANN)
    ours = watched(tmp_path / "watch", table)
    while len(table.sent) < 15:
        assert table.step()
    thief = wallet_key(b"thief", "coins")
    stolen = chain.give(address_of(thief), most)
    coin = chain.give(address_of(wallet_key(b"tower", "fees")), most)
    crowded = CrowdedChain(chain, b"crowd", CrowdSize(rate, 15, limits=chain.limits()))
    publish_old(table, BEN, received(table, BEN)[1])
    chain.farm()
    options = ("--fee-key", key_file(tmp_path), "--max-fee", most, "--every", 0.05, "--wait", 0)
    watcher = start("watch", ours.folder, *of_node(node), *options)
    try:
        assert watcher.stdout is not None
        line = json.loads(watcher.stdout.readline())
        assert (line["step"], line["pushed"]) == ("stale", "accepted")
        sight = Watcher(ours.copied(), 0).look(chain)
        assert sight.spend is not None
        assert sight.latest is not None
        unroll = sight.spend.spends[0].coin
        (pending,) = chain.pending(unroll.id)
        # A node that has seen full blocks may ask a fee already: the pin has to pay a higher rate.
        fee = max(2 * LEAST_RAISE, 5 * pending.fee)
        padding = padded_spend(thief, stolen, fee, 100_000_000, chain.agg_sig_data())
        assert chain.push(joined(pending.bundle, padding)).answer is Answer.ACCEPTED
        crowded.begin()
        while (seen := chain.coin(unroll.id)) is not None and seen.spent is None:
            assert chain.peak() < sight.latest, "not in before the timeout"
            crowded.farm()
            time.sleep(4 * BLOCK_TIME)
        assert seen is not None
        chain.farm(3)
        out, err = ended(watcher)
        assert (watcher.returncode, err) == (0, "")
    finally:
        watcher.kill()
        watcher.communicate()
    assert lines(out)[-1]["step"] == "paid"
    joined_pin = chain.coin(stolen.id)
    assert joined_pin is not None
    assert joined_pin.spent == seen.spent, "the pin was joined"
    (change,) = chain.coins_at(coin.puzzle_hash)
    paid = coin.amount - change.coin.amount
    assert rate * 100_000_000 < paid <= most


# --- a node that is syncing ------------------------------------------------------------------


@contextmanager
def syncing(node: RealNode) -> Iterator[None]:
    node.toggle_synced()
    try:
        yield
    finally:
        node.toggle_synced()


def ended(waiting: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return waiting.communicate(timeout=GUARD)
    finally:
        waiting.kill()


def says(waiting: subprocess.Popen[str], what: str) -> None:
    """Read a line of its standard error; it must not end soon after it."""
    assert waiting.stderr is not None
    said = waiting.stderr.readline()
    assert what in said, said
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(timeout=1.5)


def test_recover_waits_for_a_node_that_is_syncing_and_goes_on(
    tmp_path: Path, chain: RealChain, node: RealNode
) -> None:
    table = sit_on(chain, "syncing")
    directory, _ = dead_in_a_hand(tmp_path, table, messages=12)
    with syncing(node):
        waiting = start("recover", directory, *of_node(node), "--every", 0.05)
        says(waiting, f"the node at {node.url} is not synced; waiting for it")
    with blocks(lambda number: chain.farm()):
        out, err = ended(waiting)
    assert (waiting.returncode, err) == (0, "")
    assert "ChannelSettled" in [line["event"] for line in lines(out)]


def test_close_and_watch_wait_for_a_node_that_is_syncing_until_an_interrupt(
    tmp_path: Path, chain: RealChain, node: RealNode
) -> None:
    table = sit_on(chain, "interrupted")
    directory, _ = dead_in_a_hand(tmp_path, table, messages=12)
    ours = watched(tmp_path / "watch", table)
    with syncing(node):
        for command in (("close", directory), ("watch", ours.folder, "--every", 0.1)):
            waiting = start(*command, *of_node(node))
            says(waiting, f"the node at {node.url} is not synced; ")
            waiting.terminate()
            out, err = ended(waiting)
            assert waiting.returncode == 143, (out, err)
            assert "Traceback" not in err


def test_a_peer_waits_for_a_node_that_has_no_blocks_yet(tmp_path: Path, chain: RealChain) -> None:
    key = wallet_file(chain, tmp_path, "fresh")
    with RealNode("fresh") as fresh:
        terms = ("--game", "spacepoker", "--peer", "00" * 32, "--wallet-key", key)
        waiting = start("peer", "listen", tmp_path / "dir", *terms, *of_node(fresh))
        says(waiting, f"the node at {fresh.url} has no blocks yet; waiting for it")
        with RealChain(fresh):
            out, err = ended(waiting)
    # It is another chain: there is no money.
    assert (waiting.returncode, out) == (2, "")
    assert "no coin at the address of this key" in err
