"""A stolen store shows no secret of a deck, and only bytes sealed for their place are taken."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.machine import Peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import Contents, PeerStore, StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sealed_store import SealedStore, sealed_file
from channelsim.channel.store.sqlite_store import FILE, VERSION, SqliteStore
from channelsim.games.deck.secrets import encode_scalars
from tests.channel.peer.decks import high_card
from tests.channel.peer.decks.test_proposals import SETTINGS, call, high, prepare
from tests.channel.table import ANN, Table, sit

EVENTS = 7
"""Events per snapshot, so that both have something to hide."""


@pytest.fixture(autouse=True)
def _game() -> Iterator[None]:
    with high_card.registered():
        yield


def table_with(store: PeerStore) -> Table:
    """A table at which Ann's peer has this store, two decks, and a hand behind it."""
    table = sit("sealed", decks=SETTINGS)
    end = table.ends[ANN]
    end.driven.actor = DurablePeer(end.peer, store, EVENTS)
    prepare(table.open(), 2)
    return table.propose(ANN, high()).go_on(call, call)


def test_a_stolen_store_shows_no_secret_of_a_deck(tmp_path: Path) -> None:
    secret = sit("sealed", decks=SETTINGS).ends[ANN].peer.config.secret
    found = {}
    for name in ("plain", "sealed"):
        with closing(SqliteStore(tmp_path / name)) as store:
            table = table_with(SealedStore(store, secret) if name == "sealed" else store)
            end = table.ends[ANN]
            # A game that is played shows some of its deck.
            locks = [encode_scalars(one.own_locks) for one in end.play.decks.ready.values()]
            on_disk = b"".join(one.read_bytes() for one in (tmp_path / name).iterdir())
            found[name] = [lock[:32] in on_disk for lock in locks]
        with closing(SqliteStore(tmp_path / name)) as file:
            reader = SealedStore(file, secret) if name == "sealed" else file
            again = DurablePeer(Peer(end.peer.config), reader).peer
        assert again.endpoint.decks == end.endpoint.decks
        assert again.play.state == end.state
    assert found["plain"]
    assert all(found["plain"])
    assert not any(found["sealed"])


class Given(MemoryStore):
    """A store in memory with these contents."""

    def __init__(self, contents: Contents) -> None:
        super().__init__()
        self._contents = contents

    def load(self) -> Contents:
        return self._contents


PLAIN = Contents(
    (b"start", b"first", b"second"),
    b"the snapshot",
    (b"state 0",),
    (b"third", b"fourth"),
    {"deck/1": b"a deck", "deck/2": b"another", "last-sent": b"a message"},
)


def filled(store: PeerStore) -> PeerStore:
    """A store with all kinds of bytes, behind a seal or not."""
    store.load()
    store.append(PLAIN.opening[:2], [("deck/1", b"old"), ("received/1", b"state")])
    store.append(PLAIN.opening[2:], [("deck/1", PLAIN.records["deck/1"]), ("gone", b"gone")])
    store.save_snapshot(b"an older snapshot", [])
    store.append([b"since the older one"], [("gone", b"")])
    store.save_snapshot(PLAIN.snapshot, PLAIN.states)
    store.append(PLAIN.events[:1], [("deck/2", PLAIN.records["deck/2"])])
    store.append(PLAIN.events[1:], [("last-sent", PLAIN.records["last-sent"])])
    return store


def sealed_contents(secret: bytes = b"secret") -> Contents:
    store = MemoryStore()
    assert filled(SealedStore(store, secret)).load() == PLAIN
    return store.load()


def rows(contents: Contents) -> dict[str, bytes]:
    """All bytes that are sealed, by their place."""
    return {
        **{f"opening {n}": data for n, data in enumerate(contents.opening)},
        "snapshot": contents.snapshot,
        **{f"events {n}": data for n, data in enumerate(contents.events)},
        **{f"records {name}": data for name, data in contents.records.items()},
    }


def with_row(contents: Contents, place: str, data: bytes) -> Contents:
    """The contents with other bytes at one place."""
    kind, _, which = place.partition(" ")
    if kind == "snapshot":
        return replace(contents, snapshot=data)
    if kind == "records":
        return replace(contents, records={**contents.records, which: data})
    changed = list(contents.opening if kind == "opening" else contents.events)
    changed[int(which)] = data
    if kind == "opening":
        return replace(contents, opening=tuple(changed))
    return replace(contents, events=tuple(changed))


def refused(contents: Contents, secret: bytes = b"secret") -> str:
    """The line that refuses these contents."""
    with pytest.raises(StoreError) as info:
        SealedStore(Given(contents), secret).load()
    assert "\n" not in str(info.value)
    return str(info.value)


def test_no_unsealed_bytes_are_taken() -> None:
    sealed = sealed_contents()
    for place, data in rows(PLAIN).items():
        assert rows(sealed)[place] != data
        assert "is not sealed" in refused(with_row(sealed, place, data)), place
    assert SealedStore(Given(sealed), b"secret").load() == PLAIN


def test_no_sealed_bytes_are_taken_in_another_place() -> None:
    sealed = sealed_contents()
    every = rows(sealed)
    for place, other in permutations(every, 2):
        line = refused(with_row(sealed, place, every[other]))
        assert "or was changed" in line, (place, other)
        swapped = with_row(with_row(sealed, place, every[other]), other, every[place])
        assert "or was changed" in refused(swapped), (place, other)


def test_no_truncated_or_changed_bytes_are_taken() -> None:
    sealed = sealed_contents()
    for place, data in rows(sealed).items():
        for end in range(len(data)):
            assert refused(with_row(sealed, place, data[:end])), (place, end)
        for changed in (data + b"\0", data[:-1] + bytes((data[-1] ^ 1,)), data * 2):
            assert "or was changed" in refused(with_row(sealed, place, changed)), place


def test_no_row_is_left_out() -> None:
    """But for the last ones: then the store is an old copy."""
    sealed = sealed_contents()
    for n in range(2):
        left = (*sealed.opening[:n], *sealed.opening[n + 1 :])
        assert refused(replace(sealed, opening=left))
    assert refused(replace(sealed, opening=sealed.opening[:-1]))
    assert refused(replace(sealed, events=sealed.events[1:]))
    assert refused(replace(sealed, snapshot=b""))


def test_what_was_sealed_with_other_keys_is_refused() -> None:
    line = refused(sealed_contents(), b"another")
    assert "its snapshot is sealed with other keys, or was changed" in line


# --- files of older versions ---------------------------------------------------------------------


def old_file(directory: Path, version: int, secret: bytes = b"secret") -> None:
    """A file as an older version left it: unsealed at first (1), and sealed for no place."""
    cipher = AESSIV(derive(secret, "store", length=64))

    def seal(kind: str, data: bytes) -> bytes:
        bare = version == 1 and data in (b"start", b"first", b"the snapshot", b"a deck", b"third")
        return data if bare else b"\xc1" + cipher.encrypt(data, [kind.encode()])

    def events(some: tuple[bytes, ...]) -> list[bytes]:
        return [seal("event", one) for one in some]

    with closing(SqliteStore(directory)) as store:
        store.load()
        store.append(events(PLAIN.opening), [("received/1", b"state")])
        store.save_snapshot(seal("snapshot", PLAIN.snapshot), PLAIN.states)
        records = [(name, seal(name, data)) for name, data in PLAIN.records.items()]
        store.append(events(PLAIN.events), records)
    with closing(sqlite3.connect(directory / FILE)) as database:
        database.execute(f"PRAGMA user_version = {version:d}")
        database.commit()


def on_disk(directory: Path) -> bytes:
    return b"".join(one.read_bytes() for one in sorted(directory.iterdir()))


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_older_version_is_sealed_once(tmp_path: Path, version: int) -> None:
    old_file(tmp_path, version)
    assert (b"the snapshot" in on_disk(tmp_path)) is (version == 1)
    with closing(SqliteStore(tmp_path)) as file:
        assert file.version == version
        store = sealed_file(file, b"secret")
        assert store.load() == PLAIN
        assert file.version == VERSION
        # Nothing of the old bytes is left, neither in free pages nor in the log.
        for data in rows(PLAIN).values():
            assert data not in on_disk(tmp_path)
        assert file.state_records() == {"received/1": b"state"}
        store.append([b"fifth"], [])
        store.save_snapshot(b"a newer snapshot", [b"state 1"])
    with closing(SqliteStore(tmp_path)) as file:
        assert file.version == VERSION
        found = sealed_file(file, b"secret").load()
    assert (found.opening, found.snapshot) == (PLAIN.opening, b"a newer snapshot")
    assert (found.states, found.events) == ((b"state 0", b"state 1"), ())
    assert found.records == PLAIN.records


@pytest.mark.parametrize("version", [2, VERSION])
def test_unsealed_bytes_in_a_file_that_says_it_is_sealed_are_refused(
    tmp_path: Path, version: int
) -> None:
    old_file(tmp_path, 1)
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute(f"PRAGMA user_version = {version:d}")
        database.commit()
    before = on_disk(tmp_path)
    with closing(SqliteStore(tmp_path)) as file, pytest.raises(StoreError, match="not sealed"):
        sealed_file(file, b"secret").load()
    assert on_disk(tmp_path) == before


@pytest.mark.parametrize("version", [1, 2])
def test_other_keys_leave_an_old_file_alone(tmp_path: Path, version: int) -> None:
    old_file(tmp_path, version)
    before = on_disk(tmp_path)
    with closing(SqliteStore(tmp_path)) as file, pytest.raises(StoreError, match="other keys"):
        sealed_file(file, b"another")
    assert on_disk(tmp_path) == before


SEALER = """
import os, sys
from pathlib import Path
from channelsim.channel.store import sqlite_store
from channelsim.channel.store.sealed_store import sealed_file

left, row = int(sys.argv[2]), sqlite_store._digest

def killed(place, data):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), 9)
    return row(place, data)

file = sqlite_store.SqliteStore(Path(sys.argv[1]))
contents = file.load()
sqlite_store._digest = killed
file.load = lambda: contents
sealed_file(file, b"secret")
print("sealed")
"""


def test_a_kill_while_a_file_is_sealed_loses_nothing(tmp_path: Path) -> None:
    said = []
    for number in range(0, 12, 2):
        directory = tmp_path / str(number)
        old_file(directory, 1)
        done = subprocess.run(
            [sys.executable, "-c", SEALER, str(directory), str(number)], capture_output=True
        )
        said.append(done.stdout)
        with closing(SqliteStore(directory)) as file:
            assert sealed_file(file, b"secret").load() == PLAIN
    assert said[0] == b""
    assert said[-1] == b"sealed\n"
