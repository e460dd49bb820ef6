"""The data directory of one side of a channel: its keys, settings and store.

| file | contents |
|---|---|
| `keys.json` | the side's configuration and secrets (`keys_file.py`); written once |
| `settings.json` | what it plays, its node, and where the other side is; may change |
| `peer.sqlite`, `lock` | the journal (`sqlite_store.py`), for one process at a time |

A directory is complete once its keys are there: they are written last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from channelsim.channel.peer.config import Config
from channelsim.channel.store import keys_file
from channelsim.channel.store.interface import PeerStore, StoreError
from channelsim.channel.store.json_files import read_document
from channelsim.channel.store.keys_file import read_keys, write_keys
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import FILE as STORE
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.system.durable_files import replace_file, unwritable

FILE = "settings.json"
FORMAT = "channelsim settings 1"
MOST_NODES = 10

Text = Annotated[str, Meta(max_length=4096)]
Count = Annotated[int, Meta(ge=1, le=(1 << 63) - 1)]


class NodeAddress(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The URL of a full node's RPC; paths of the client's certificate and key (PEM) if it wants
    them."""

    url: Text
    certificate: Text = ""
    key: Text = ""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one side plays, its nodes, and how it reaches the other side.

    The hands of all `games` take turns, or alternate as the `rotation` of this name says; `unit` in
    mojos, `stack` in units, `game_timeout` in blocks. `address` is HOST:PORT, where the side
    listens (`listens`) or connects to.
    `counterparty` is the fingerprint of the other side's network key, 64 hex digits. A side that is
    an `adversary` (its name) keeps nothing else. `more_nodes` are those after the first `node`.
    """

    node: NodeAddress
    games: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=100)]
    hands: Count
    unit: Count
    stack: Count
    game_timeout: Count
    policy: Text
    listens: bool
    address: Text
    counterparty: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    adversary: Text = ""
    rotation: Text = ""
    more_nodes: Annotated[tuple[NodeAddress, ...], Meta(max_length=MOST_NODES)] = ()
    format: Text = FORMAT

    @property
    def nodes(self) -> tuple[NodeAddress, ...]:
        """All nodes, in the order in which they are asked."""
        return (self.node, *self.more_nodes)


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """An open data directory, which no other process can open meanwhile."""

    path: Path
    config: Config
    settings: Settings
    store: PeerStore


def is_complete(directory: Path) -> bool:
    """True if a channel was begun here."""
    return (directory / keys_file.FILE).exists()


def create(directory: Path, config: Config, settings: Settings, passphrase: bytes = b"") -> None:
    """Write the empty store, settings and keys of a new channel.

    Raises `StoreError` if there is a channel already, or a store whose keys are gone.
    """
    with closing(SqliteStore(directory)) as store:
        if is_complete(directory):
            raise StoreError(f"{directory}: there is a channel already; name another directory")
        contents = store.load()
        if contents.opening or contents.events:
            raise no_channel(directory)
        write_settings(directory, settings)
        write_keys(directory, config, passphrase)


def no_channel(directory: Path) -> StoreError:
    """The error of a directory that is not complete."""
    if (directory / STORE).exists():
        return StoreError(f"{directory / keys_file.FILE}: missing; restore it from a backup")
    return StoreError(f"{directory}: no channel is here; `channelsim peer` starts one")


@contextmanager
def opened(directory: Path, passphrase: bytes = b"") -> Iterator[DataDirectory]:
    """Open the directory of a channel for this process alone. Raises `StoreError`."""
    if not is_complete(directory):
        raise no_channel(directory)
    if not (directory / STORE).exists():
        # An empty one would be a channel that has not begun.
        raise StoreError(
            f"{directory / STORE}: missing; restore it from the newest backup, then resume"
            " with channelsim peer"
        )
    settings = read_settings(directory)
    config = read_keys(directory, passphrase)
    with closing(SqliteStore(directory)) as file:
        yield DataDirectory(directory, config, settings, SealedStore(file, config.secret))


def read_settings(directory: Path) -> Settings:
    """Read the settings; they have no secrets. Raises `StoreError`."""
    return read_document(directory / FILE, Settings, FORMAT, "settings")


def write_settings(directory: Path, settings: Settings) -> None:
    """Replace the settings, as a whole; the directory is made if need be. Raises `StoreError`."""
    path = directory / FILE
    data = msgspec.json.format(msgspec.json.encode(settings)) + b"\n"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, data, sync=True)
    except OSError as error:
        raise StoreError(unwritable(path, error)) from None
