"""Duties of a store on disk: a real one keeps them all, and each that is broken is found."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from channelsim.channel.attack.failing_store import Disk, failing_connection
from channelsim.channel.attack.noted_store import NotedStore, SealedSecrets
from channelsim.channel.attack.store_duties import readable_by_others, shared, wrong_settings
from channelsim.channel.store.sqlite_store import FILE, SqliteStore


def test_a_store_synchronises_overwrites_and_is_its_owners_alone(tmp_path: Path) -> None:
    found: list[str] = []
    connection = failing_connection(lambda: None, Disk(tmp_path), found.append)
    with closing(SqliteStore(tmp_path, connection=connection)) as store:
        store.load()
        store.append([b"event"])
        assert [*shared(tmp_path)] == found == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert [*readable_by_others(files)] == []
    (tmp_path / FILE).chmod(0o640)
    assert [*readable_by_others(files)] == [f"lets other users read {FILE}"]
    assert [*shared(tmp_path)] == ["can be opened by two processes at once"]


@pytest.mark.parametrize(
    ("setting", "how"),
    [
        ("synchronous = NORMAL", "does not synchronise its transactions with the disk"),
        ("secure_delete = OFF", "does not overwrite what it deletes"),
        ("secure_delete = ON", ""),
    ],
)
def test_settings_of_a_store_are_read(setting: str, how: str) -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA secure_delete = ON")
        database.execute(f"PRAGMA {setting}")
        assert [*wrong_settings(database)] == [how] * bool(how)


@pytest.mark.parametrize(
    ("events", "erases", "is_early"), [(3, False, False), (2, False, True), (2, True, False)]
)
def test_a_snapshot_is_not_taken_before_it_is_due(
    tmp_path: Path, events: int, erases: bool, is_early: bool
) -> None:
    found: list[str] = []
    with closing(SqliteStore(tmp_path)) as disk:
        disk.load()
        store = NotedStore(disk, SealedSecrets(), 3, found.append)
        store.append([b"opening"])
        store.save_snapshot(b"first", [b"state"])
        store.append([b"event"] * events)
        store.save_snapshot(b"second", [], erases=erases)
    assert bool(found) is is_early
