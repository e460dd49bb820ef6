"""`channelsim channels`: what a data directory holds, with the keys and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.peer.machine import Peer
from channelsim.channel.store.data_directory import create
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.sqlite_store import SqliteStore
from tests.channel.command import channelsim
from tests.channel.disputes import farm, leave
from tests.channel.store.test_data_directory import SETTINGS
from tests.channel.table import ANN, BALANCE, STAKE, TIMEOUT, Table, sit

PASSPHRASE = b"open sesame"


def stored(directory: Path, passphrase: bytes = b"") -> Table:
    """A table at which Ann's peer has a data directory."""
    table = sit("stored")
    end = table.ends[ANN]
    create(directory, end.peer.config, SETTINGS, passphrase)
    end.driven.actor = DurablePeer(Peer(end.peer.config), SqliteStore(directory))
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
