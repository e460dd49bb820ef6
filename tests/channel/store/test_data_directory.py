"""A data directory: complete or not there, for one process at a time, and read with care."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from channelsim.channel.peer.config import Config
from channelsim.channel.store import keys_file, sqlite_store
from channelsim.channel.store.data_directory import (
    FILE,
    NodeAddress,
    Settings,
    create,
    is_complete,
    opened,
    read_settings,
    write_settings,
)
from channelsim.channel.store.interface import StoreError
from tests.channel.table import ANN, sit

SETTINGS = Settings(
    node=NodeAddress("http://127.0.0.1:8555"),
    games=("spacepoker",),
    hands=3,
    unit=100,
    stack=10,
    game_timeout=15,
    policy="caller",
    listens=True,
    address="127.0.0.1:0",
    counterparty="ab" * 32,
)


@cache
def config() -> Config:
    return sit().ends[ANN].peer.config


def test_a_directory_is_opened_as_it_was_created(tmp_path: Path) -> None:
    assert not is_complete(tmp_path)
    create(tmp_path, config(), SETTINGS, b"passphrase")
    assert is_complete(tmp_path)
    with opened(tmp_path, b"passphrase") as found:
        assert found.settings == SETTINGS
        assert (found.config.secret, found.config.agreement) == (
            config().secret,
            config().agreement,
        )
        with pytest.raises(StoreError, match="another process"), opened(tmp_path, b"passphrase"):
            pass
    with pytest.raises(StoreError, match="there is a channel already"):
        create(tmp_path, config(), msgspec.structs.replace(SETTINGS, hands=4))
    assert read_settings(tmp_path) == SETTINGS, "a refused channel changes nothing"
    changed = msgspec.structs.replace(SETTINGS, address="127.0.0.1:9")
    write_settings(tmp_path, changed)
    with opened(tmp_path, b"passphrase") as found:
        assert found.settings == changed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no settings of channelsim"),
        ("{}", "missing required field"),
        ("[" * 5000, "no settings of channelsim"),
        ("\xff", "no settings of channelsim"),
        ('{"format": 3}', "no settings of channelsim"),
        ("newer", "not written by this version"),
    ],
)
def test_settings_that_cannot_be_read_are_refused_in_one_line(
    tmp_path: Path, text: str, reason: str
) -> None:
    create(tmp_path, config(), SETTINGS)
    if text == "newer":
        write_settings(tmp_path, msgspec.structs.replace(SETTINGS, format="channelsim settings 2"))
    else:
        (tmp_path / FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError) as caught, opened(tmp_path):
        pass
    assert reason in str(caught.value)
    assert str(tmp_path / FILE) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_lost_store_or_lost_keys_are_not_taken_for_a_new_channel(tmp_path: Path) -> None:
    create(tmp_path, config(), SETTINGS)
    with opened(tmp_path) as found:
        found.store.append([b"an event"])
    keys = (tmp_path / keys_file.FILE).rename(tmp_path / "copy")
    with pytest.raises(StoreError, match=r"keys\.json: missing; restore"):
        create(tmp_path, config(), SETTINGS)
    assert not is_complete(tmp_path)
    keys.rename(tmp_path / keys_file.FILE)
    (tmp_path / sqlite_store.FILE).unlink()
    with pytest.raises(StoreError, match=r"peer\.sqlite: missing; restore"), opened(tmp_path):
        pass
    assert not (tmp_path / sqlite_store.FILE).exists()


def test_a_place_without_a_channel_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no channel is here"), opened(tmp_path / "nothing"):
        pass
    assert not (tmp_path / "nothing").exists()


def test_settings_of_one_node_and_of_several_are_read(tmp_path: Path) -> None:
    """Directories from before a peer could have several nodes have only the first field."""
    write_settings(tmp_path, SETTINGS)
    written = msgspec.json.decode((tmp_path / FILE).read_bytes())
    del written["more_nodes"]
    (tmp_path / FILE).write_bytes(msgspec.json.encode(written))
    assert read_settings(tmp_path) == SETTINGS
    assert SETTINGS.nodes == (SETTINGS.node,)
    other = NodeAddress("https://127.0.0.1:8556", "/cert", "/key")
    several = replace(SETTINGS, more_nodes=(other,))
    write_settings(tmp_path, several)
    assert read_settings(tmp_path).nodes == (SETTINGS.node, other)
