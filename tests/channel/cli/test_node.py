"""`channelsim node`: a test chain for clients of the full node's RPC."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import urlsplit

import pytest
from chia_rs import PrivateKey

from channelsim.channel.chain.coins import Coin, condition, signed_spend
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.rpc import PATIENCE, RpcClient
from channelsim.channel.chain.rpc_server import MOST_CONNECTIONS
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN
from tests.channel.command import channelsim

COMMAND = "from channelsim.channel.cli import main; main()"
GUARD = 60.0
"""Seconds after which nothing more is expected to happen."""


class KilledError(Exception):
    """The test killed the node."""


@contextmanager
def served(*options: str, ends_by: int = signal.SIGINT) -> Iterator[dict[str, Any]]:
    """A node in a process, and what it printed; an interrupt ends it cleanly."""
    node = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "node", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert node.stdout is not None
    try:
        yield {**json.loads(node.stdout.readline()), "pid": node.pid}
        node.send_signal(ends_by)
        out, err = node.communicate(timeout=GUARD)
        assert (out, err) == ("", "")
        assert node.returncode == 128 + ends_by
    finally:
        node.kill()
        node.communicate()


def spend(chain: RpcChain, wallet: dict[str, Any]) -> Coin:
    """Pay everything that a wallet has to another address, and return the new coin."""
    key = PrivateKey.from_bytes(bytes.fromhex(wallet["synthetic_secret_key"]))
    assert address_of(key).hex() == wallet["puzzle_hash"]
    (seen,) = chain.coins_at(address_of(key))
    assert seen.coin.id.hex() == wallet["coin"]
    made = Coin(seen.coin.id, bytes(32), seen.coin.amount)
    listed = to_list([condition(CREATE_COIN, made.puzzle_hash, int_to_atom(made.amount))])
    bundle = signed_spend(key, seen.coin, listed, chain.agg_sig_data())
    assert chain.push(bundle).answer is Answer.ACCEPTED
    return made


def wait_for(chain: RpcChain, coin: Coin) -> None:
    until = time.monotonic() + GUARD
    while chain.coin(coin.id) is None:
        assert time.monotonic() < until, "no block has the spend"
        time.sleep(0.02)
    assert [seen.coin for seen in chain.children(coin.parent)] == [coin]


@pytest.mark.parametrize(
    ("options", "ends_by"),
    [
        (("--block-on-push", "--wallets", "3"), signal.SIGINT),
        (("--block-every", "0.05", "--listen", "127.0.0.1:0"), signal.SIGTERM),
        pytest.param(
            *(("--block-on-push", "--agg-sig-data", "05" * 32), signal.SIGINT),
            marks=pytest.mark.long,
        ),
    ],
    ids=("on-push", "every", "AGG_SIG data"),
)
def test_a_client_spends_from_a_printed_wallet(options: tuple[str, ...], ends_by: int) -> None:
    with served(*options, "--json", ends_by=ends_by) as about, RpcChain(about["url"]) as chain:
        apart = "--agg-sig-data" in options
        assert chain.agg_sig_data().hex() == about["agg_sig_data"]
        assert about["agg_sig_data"] == ("05" * 32 if apart else about["genesis_challenge"])
        assert about["genesis_challenge"] != "05" * 32
        assert len(about["wallets"]) == (3 if "--wallets" in options else 2)
        same = address_of(wallet_key(derive(b"node", "wallet", 0), "wallet"))
        assert about["wallets"][0]["puzzle_hash"] == same.hex(), "they follow from the seed"
        wait_for(chain, spend(chain, about["wallets"][-1]))
        height = chain.peak()
        assert height > about["height"]
        if "--block-on-push" in options:
            assert height == about["height"] + 1
        else:
            crowd(about["url"])
            assert chain.peak() >= height


def crowd(url: str) -> None:
    """Open more connections than are served; the node goes on when they are closed."""
    place = urlsplit(url)
    sockets = []
    try:
        for _ in range(MOST_CONNECTIONS + 20):
            one = socket.create_connection((place.hostname, place.port), timeout=GUARD)
            sockets.append(one)
        assert sockets[-1].recv(1) == b"", "one too many is closed at once"
    finally:
        for one in sockets:
            one.close()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--listen", "8555"), "an address is HOST:PORT"),
        (("--listen", "127.0.0.1:99999"), "an address is HOST:PORT"),
        (("--listen", "192.0.2.1:0"), "--listen 192.0.2.1:0: "),
        (("--block-every", "0"), "a number from 0.01 to 86,400"),
        (("--agg-sig-data", "05" * 31), "not 64 hex digits"),
        (("--state", __file__), "not a chain file of channelsim"),
        (("--block-every", "1", "--block-on-push"), "blocks come with --block-on-push already"),
        (("--no-blocks", "--block-on-push"), "--block-on-push: --no-blocks is given"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], reason: str
) -> None:
    ran = channelsim(capsys, "node", *options)
    assert (ran.code, ran.out) == (2, "")
    assert reason in ran.err


def test_a_stored_chain_outlives_a_killed_node(tmp_path: Path) -> None:
    options = ("--block-on-push", "--wallets", "1", "--state", str(tmp_path / "chain"), "--json")
    with suppress(KilledError), served(*options) as about:
        with RpcChain(about["url"]) as chain:
            made = spend(chain, about["wallets"][0])
            wait_for(chain, made)
            time.sleep(0.1)  # the log follows a block, and a busy node may make another one
            height = chain.peak()
        os.kill(about["pid"], signal.SIGKILL)
        raise KilledError
    with served(*options) as again, RpcChain(again["url"]) as chain:
        assert again["height"] == height
        assert chain.coin(made.id) is not None
        assert again["genesis_challenge"] == about["genesis_challenge"]
        (wallet,) = again["wallets"]
        assert (wallet["coin"], wallet["mojos"]) == (None, 0), "it is spent"
        assert {**wallet, "coin": 0, "mojos": 0} == {**about["wallets"][0], "coin": 0, "mojos": 0}


def test_chain_commands_change_a_running_node(capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks only on request, a reorganisation, a funded address, and back to a snapshot."""
    with served("--no-blocks", "--wallets", "0", "--json") as about:
        at = ("--node", about["url"])

        def run(*words: str) -> str:
            ran = channelsim(capsys, "chain", *words, *at)
            assert (ran.code, ran.err) == (0, "")
            return ran.out

        assert run("make") == "height 2\n"
        assert run("snapshot") == "1\n"
        assert run("make", "4") == "height 6\n"
        assert json.loads(run("reorganise", "2", "--json")) == {"height": 7}
        address = "0x" + "07" * 32
        assert run("fund", address) == f"height 8: {address} has 2,000,000,000,000 mojos more\n"
        with RpcChain(about["url"]) as chain:
            assert len(chain.coins_at(bytes([7]) * 32)) == 1
        assert json.loads(run("revert", "--json")) == {"snapshot": 1, "height": 2}
        assert run("reorganise", "1", "--new", "3", "--push-again") == "height 4\n"
        for words, reason in [
            (("revert", "2"), "there is no snapshot 2"),
            (("reorganise", "4"), "the chain has 4 blocks"),
            (("reorganise", "2", "--new", "2"), "2 blocks are only replaced by more of them"),
            (("make", "0"), "a whole number from 1 to 10,000"),
            (("fund", "here"), "'here': no address (txch1"),
        ]:
            ran = channelsim(capsys, "chain", *words, *at)
            assert (ran.code, ran.out) == (2, "")
            assert reason in ran.err


def test_chain_commands_say_that_a_node_is_away_or_no_test_chain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = channelsim(capsys, "chain", "make", "--node", "http://127.0.0.1:9")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be reached" in ran.err
    with SimulatedChain(1).served() as url:
        ran = channelsim(capsys, "chain", "make", "--node", url)
    assert ran.code == 2
    assert "it is not a test chain" in ran.err


def test_the_log_follows_what_is_asked_of_the_node() -> None:
    options = ("--no-blocks", "--wallets", "1", "--text")
    node = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "node", *options], stdout=subprocess.PIPE, text=True
    )
    assert node.stdout is not None
    guard = Timer(GUARD, node.kill)  # or a line that never comes would be awaited for ever
    guard.start()
    try:
        url = node.stdout.readline().split()[1]
        with closing(RpcClient(url, None, PATIENCE)) as client:
            client.ask("fund_address", dict[str, Any], address="07" * 32)
        lines = (line for line in node.stdout if line.startswith("block "))
        assert next(lines).startswith("block 3 pays 2,000,000,000,000 mojos to")
    finally:
        guard.cancel()
        node.send_signal(signal.SIGINT)
        node.communicate(timeout=GUARD)
