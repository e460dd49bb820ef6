"""`channelsim channels`: what a data directory holds, with the keys and without."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.peer.machine import Peer
from channelsim.channel.store.data_directory import create
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import FILE, SqliteStore
from channelsim.channel.store.store_copy import MOST_BYTES
from tests.channel.command import channelsim
from tests.channel.disputes import farm, leave
from tests.channel.store.test_data_directory import SETTINGS
from tests.channel.table import ANN, BALANCE, STAKE, TIMEOUT, Table, sit

PASSPHRASE = b"open sesame"

ENDLESS = """
    DROP TABLE facts;
    CREATE VIEW facts AS WITH RECURSIVE n(name, data, digest) AS
        (SELECT 'overview', x'', x'' UNION ALL SELECT name, data, digest FROM n) SELECT * FROM n;
"""
"""A table of our name that never ends."""


def stored(directory: Path, passphrase: bytes = b"") -> Table:
    """A table at which Ann's peer has a data directory."""
    table = sit("stored")
    end = table.ends[ANN]
    create(directory, end.peer.config, SETTINGS, passphrase)
    store = SealedStore(SqliteStore(directory), end.peer.config.secret)
    end.driven.actor = DurablePeer(Peer(end.peer.config), store)
    return table


def overview(
    capsys: pytest.CaptureFixture[str], directory: Path, *options: object
) -> dict[str, Any]:
    ran = channelsim(capsys, "channels", directory, "--json", *options)
    assert (ran.code, ran.err) == (0, "")
    (channel,) = json.loads(ran.out)["channels"]
    assert isinstance(channel, dict)
    return channel


def test_the_life_of_a_channel_with_and_without_the_passphrase(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, secret = tmp_path / "ann", tmp_path / "passphrase"
    secret.write_bytes(PASSPHRASE + b"\n")
    options = ("--passphrase-file", secret)
    table = stored(directory, PASSPHRASE)
    assert overview(capsys, directory)["states"] is None
    table.open().propose(ANN)
    table.until(lambda: len(table.sent) >= 16 and table.ends[ANN].play.potato)
    state = table.ends[ANN].state
    hidden, shown = overview(capsys, directory), overview(capsys, directory, *options)
    for found in (hidden, shown):
        assert found["states"]["newest"] == state.number
        assert found["states"]["balances"] == {"initiator": 4000, "receiver": 4000}
        (game,) = found["games"]
        assert (game["game"], game["amount"]) == ("spacepoker", 2 * STAKE)
    assert hidden["hidden"]
    assert "phase" not in hidden
    assert shown["hidden"] == []
    assert (shown["phase"], shown["games"][0]["our_turn"]) == ("play", True)
    assert {"what": "a move in game 0", "who": "initiator", "height": None} in shown["due"]
    channel = {coin["what"]: coin for coin in shown["coins"]}["channel"]
    assert (channel["amount"], channel["spent"]) == (2 * BALANCE, None)
    # On chain: the unroll coin, and then the game coin, each with its height.
    leave(table, ANN)
    farm(table)
    born = table.chain.peak()
    (duty,) = overview(capsys, directory, *options)["due"]
    assert duty["height"] == born + TIMEOUT
    for _ in range(TIMEOUT + 1):
        farm(table)
    table.mail.clear()
    shown = overview(capsys, directory, *options)
    assert shown["phase"] == "the chain"
    (duty,) = shown["due"]
    assert duty["height"] in (table.chain.peak() + TIMEOUT - 1, table.chain.peak() + TIMEOUT)
    config = table.ends[ANN].peer.config
    keys = SecretKeys.derive(config.secret)
    on_disk = b"".join(one.read_bytes() for one in directory.iterdir() if one.is_file())
    for key in (config.wallet.key, keys.channel, keys.unroll, keys.referee):
        assert bytes(key) not in on_disk
    assert config.secret not in on_disk
    ran = channelsim(capsys, "channels", directory, "--text", *options)
    assert "unroll coin" in ran.out
    assert f"height {duty['height']}" in ran.out


def test_a_folder_of_channels_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        stored(tmp_path / name)
    ran = channelsim(capsys, "channels", tmp_path, "--json")
    assert len(json.loads(ran.out)["channels"]) == 2
    for name in ("bad", "huge", "tricky"):
        stored(tmp_path / name)
    (tmp_path / "bad" / FILE).write_bytes(b"no store at all, and long enough")
    os.truncate(tmp_path / "huge" / FILE, MOST_BYTES + 1)
    with closing(sqlite3.connect(tmp_path / "tricky" / FILE)) as database:
        database.executescript(ENDLESS)
    ran = channelsim(capsys, "channels", tmp_path, "--json")
    assert ran.code == 2
    assert len(json.loads(ran.out)["channels"]) == 2
    reasons = {"bad": "not a store", "huge": "too large", "tricky": "tables are others than ours"}
    assert len(ran.err.splitlines()) == len(reasons)
    for (name, reason), line in zip(reasons.items(), ran.err.splitlines(), strict=True):
        assert f"{tmp_path / name}" in line
        assert reason in line


def test_a_wrong_passphrase_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, wrong = tmp_path / "ann", tmp_path / "wrong"
    wrong.write_bytes(b"another\n")
    stored(directory, PASSPHRASE)
    for arguments, reason in (
        ((tmp_path / "nothing",), "cannot be read"),
        ((directory, "--passphrase-file", wrong), "the passphrase is wrong"),
    ):
        ran = channelsim(capsys, "channels", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert reason in ran.err
        assert ran.err.count("\n") == 1
