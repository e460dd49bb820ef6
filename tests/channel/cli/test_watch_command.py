"""`channelsim watch`: a process that has a copy of the watch data, and a node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from chia_wallet_sdk import Address, SecretKey

from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.cli.secret_files import read_wallet_keys
from channelsim.channel.protocol.wallet import address_of, wallet_key, wallet_seed
from tests.channel.command import channelsim
from tests.channel.disputes import leave, publish_old, received
from tests.channel.on_chain import reward
from tests.channel.table import ANN, BEN, TIMEOUT
from tests.channel.watch.test_watch import in_a_hand
from tests.channel.watch.towers import without_room

COMMAND = "from channelsim.channel.cli import main; main()"


def test_a_watcher_in_a_process_preempts_a_stale_state(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    tower, table = tmp_path / "tower", ours.table
    shutil.copytree(ours.folder, tower)
    while table.ends[ANN].play.newest.state.number < 7:
        assert table.step()
    newest = table.ends[ANN].play.newest.state.number
    stale = received(table, BEN)[1]
    with table.chain.served() as url:
        watcher = subprocess.Popen(
            [
                *(sys.executable, "-c", COMMAND, "watch", str(tower), "--node", url),
                *("--every", "0.05", "--wait", "2", "--json"),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert watcher.stdout is not None

        def line() -> dict[str, Any]:
            assert watcher.stdout is not None
            found: dict[str, Any] = json.loads(watcher.stdout.readline())
            return found

        try:
            assert line()["step"] == "open"
            shutil.copytree(ours.folder, tower, dirs_exist_ok=True)
            assert (found := line())["newest"] == newest, found
            publish_old(table, BEN, stale)
            table.chain.farm()
            assert (found := line())["state"] == stale
            assert (found["step"], found["pushed"]) == ("stale", None)
            table.chain.farm(2)
            assert line()["pushed"] == "accepted"
            table.chain.farm()
            assert (found := line())["step"] == "paid"
            assert (found["state"], found["final"]) == (newest, False)
            table.chain.farm(3)
            assert line()["final"]
            assert watcher.wait(timeout=60) == 0
        finally:
            watcher.kill()
            watcher.communicate()


def test_a_watcher_in_a_process_pays_fees_from_its_own_coins(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    table, most = ours.table, 20 * LEAST_RAISE
    coin = table.chain.give(address_of(wallet_key(b"tower", "fees")), most)
    with table.chain.served() as url:
        watcher = subprocess.Popen(
            [
                *(sys.executable, "-c", COMMAND, "watch", str(ours.folder), "--node", url),
                *("--every", "0.05", "--wait", "2", "--json", "--max-fee", str(most)),
                *("--fee-key", str(key_file(tmp_path))),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

        def line() -> dict[str, Any]:
            assert watcher.stdout is not None
            found: dict[str, Any] = json.loads(watcher.stdout.readline())
            return found

        try:
            assert line()["step"] == "open"
            publish_old(table, BEN, received(table, BEN)[0])
            table.chain.farm(3)
            while not (found := line())["pushed"]:
                assert found["fee"] is None
            fees = [found["fee"]]
            for blocks in (4, 6):
                with table.chain.lock:
                    without_room(table.chain, blocks)
                found = line()
                assert (found["step"], found["pushed"]) == ("stale", "accepted")
                fees.append(found["fee"])
            assert fees[0] == 0
            assert 0 < fees[1] < fees[2] == most
            table.chain.farm()
            assert line()["step"] == "paid"
            table.chain.farm(3)
            assert line()["final"]
            out, err = watcher.communicate(timeout=60)
            assert (watcher.returncode, out) == (0, "")
        finally:
            watcher.kill()
            watcher.communicate()
    left = [seen.coin.amount for seen in table.chain.coins_at(coin.puzzle_hash)]
    assert left == [coin.amount - most]
    said = "channelsim: our spend is not confirmed with its highest fee, 200,000,000 mojos: "
    assert err.startswith(said), err
    assert err.count("\n") == 1


def key_file(folder: Path) -> Path:
    """A file with the secret key of the fee coins."""
    path = folder / "fees.key"
    path.write_text(SecretKey.from_seed(wallet_seed(b"tower", "fees")).to_bytes().hex())
    return path


@pytest.mark.parametrize("synthetic", [False, True])
def test_a_watcher_without_fees_says_why_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], synthetic: bool
) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    table = ours.table
    leave(table, ANN)
    table.chain.farm(1 + TIMEOUT)
    key = wallet_key(b"tower", "fees")
    file = key_file(tmp_path)
    if synthetic:
        file.write_text(bytes(key).hex())
    wrong = tmp_path / "wrong.key"
    wrong.write_text("00" * 31)
    # The first address is that of the key in a wallet, as `channelsim node` prints it.
    address = address_of(read_wallet_keys(file)[0])
    assert synthetic or address == address_of(key)
    place = Address(address, "txch").encode()
    with table.chain.served() as url:

        def said(*options: object) -> str:
            """What it prints on stderr until the channel has ended, which is not long."""
            where = (ours.folder, "--node", url, "--every", 0.05)
            with Farming(table.chain):
                ran = channelsim(capsys, "watch", *where, *options)
            assert ran.code == 0
            return ran.err

        unusable = f"{wrong}: no secret key of a wallet: 64 hex digits"
        assert said("--fee-key", wrong).startswith(f"channelsim: {unusable}")
        assert "cannot be read" in said("--fee-key", tmp_path / "none.key")
        assert said("--fee-key", file, "--max-fee", 0) == ""
        assert said("--fee-key", file, "--max-fee", 10**9) == (
            f"channelsim: --fee-key: no coin of at least 10,000,000 mojos at {place}: fund it;"
            " watching without fees until then\n"
        )
        assert "by default a spend of this channel costs at most 100 mojos" in said(
            "--fee-key", file
        )
        table.chain.give(address_of(key), 10**9)
        assert said("--fee-key", file, "--max-fee", 10**9) == ""
    assert reward(table, ANN) > 0


class Farming:
    """Blocks that are made meanwhile, until the block ends."""

    def __init__(self, chain: SimulatedChain) -> None:
        self._done = Event()
        self._thread = Thread(target=self._farm, args=(chain,))

    def _farm(self, chain: SimulatedChain) -> None:
        while not self._done.wait(0.1):
            chain.farm()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


@pytest.mark.parametrize("form", ["--json", "--text"])
def test_a_state_that_the_data_do_not_have_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    ours = in_a_hand(tmp_path / "watch", messages=12)
    old, table = tmp_path / "old", ours.table
    shutil.copytree(ours.folder, old)
    while table.step():
        pass
    publish_old(table, BEN, received(table, BEN)[-1])
    table.chain.farm(5)
    with table.chain.served() as url:
        ran = channelsim(capsys, "watch", old, "--node", url, form)
    assert (ran.code, ran.err) == (1, "")
    assert '"unknown"' in ran.out or "a state that these data do not have" in ran.out


def test_wrong_use_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = in_a_hand(tmp_path / "watch", messages=12).folder
    with SimulatedChain(99).served() as url:
        for options, reason in (
            ((tmp_path, "--node", url), "name a copy of the folder 'watch'"),
            ((folder,), "name the URL of a full node"),
            ((folder, "--node", "http://127.0.0.1:1", "--cert", "x"), "--cert and --key: both"),
            ((folder, "--node", url, "--wait", "-1"), "a whole number from 0"),
            ((folder, "--node", url, "--max-fee", "1"), "--max-fee: only with --fee-key"),
        ):
            ran = channelsim(capsys, "watch", *options)
            assert (ran.code, ran.out) == (2, "")
            assert reason in ran.err
            assert ran.err.count("\n") == 1
