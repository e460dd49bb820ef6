"""A store is read while its peer writes, without its lock, and from a read-only folder."""

from __future__ import annotations

from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.sqlite_store import FILE, LOCK, SqliteStore
from channelsim.channel.store.store_copy import copied_store


def test_a_copy_has_whole_transactions_while_the_peer_writes(tmp_path: Path) -> None:
    stop, begun = Event(), Event()

    def write() -> None:
        with closing(SqliteStore(tmp_path)) as store:
            store.load()
            for number in count():
                record = b"%d" % number
                store.append([record], record)
                if number % 5 == 4:
                    store.save_snapshot(b"up to here", [b"state"])
                begun.set()
                if stop.wait(0.03):
                    break

    writer = Thread(target=write)
    writer.start()
    assert begun.wait(60)
    try:
        seen: set[bytes] = set()
        for _ in range(200):
            with copied_store(tmp_path) as copy:
                contents, newest = copy.load(), copy.overview()
            events = 5 * len(contents.states) if contents.snapshot else 0
            assert events + len(contents.events) in (int(newest) + 1, events + 5)
            assert not contents.events or contents.events[-1] == newest
            seen.add(newest)
            if len(seen) == 4:
                break
    finally:
        stop.set()
        writer.join()
    assert len(seen) == 4


def test_a_killed_peers_last_writes_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    original = tmp_path / "original"
    with closing(SqliteStore(tmp_path / "live")) as store:
        store.append([b"event"])
        original.mkdir()
        for name in (FILE, f"{FILE}-wal"):  # as a killed process leaves them
            (original / name).write_bytes((tmp_path / "live" / name).read_bytes())
    original.chmod(0o500)
    before = {path.name: path.read_bytes() for path in original.iterdir()}
    try:
        with copied_store(original) as copy:
            assert copy.load().events == (b"event",)
    finally:
        original.chmod(0o700)
    assert {path.name: path.read_bytes() for path in original.iterdir()} == before
    assert LOCK not in before


def test_what_cannot_be_read_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store is here"), copied_store(tmp_path):
        pass
    (tmp_path / FILE).write_bytes(b"something else, and long enough")
    refused = pytest.raises(StoreError, match="not a store of channelsim")
    with refused as error, copied_store(tmp_path):
        pass
    assert str(tmp_path / FILE) in str(error.value)
