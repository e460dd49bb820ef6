"""The store on disk: whole transactions, one process, and one clear line for what is no store."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from channelsim.channel.store.interface import Contents, StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sqlite_store import FILE, LOCK, SqliteStore


class ReopenedStore:
    """A store on disk that is opened anew for everything that is done with it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def load(self) -> Contents:
        with closing(SqliteStore(self._directory)) as store:
            return store.load()

    def overview(self) -> bytes:
        with closing(SqliteStore(self._directory)) as store:
            return store.overview()

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        with closing(SqliteStore(self._directory)) as store:
            store.load()
            store.append(events, overview)

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        with closing(SqliteStore(self._directory)) as store:
            store.load()
            store.save_snapshot(snapshot, states, erases=erases)


def test_the_disk_has_what_memory_has(tmp_path: Path) -> None:
    """After every step of one life, whether the file stays open or not."""
    memory, again = MemoryStore(), ReopenedStore(tmp_path / "again")
    with closing(SqliteStore(tmp_path / "open")) as disk:
        stores = (memory, disk, again)
        for number in range(40):
            for store in stores:
                if number % 7 == 6:
                    states = [b"%d" % number, b""]
                    store.save_snapshot(b"snapshot %d" % number, states, erases=number % 2 == 0)
                else:
                    overview = b"overview %d" % number * (number % 4)
                    store.append([b"event %d" % number] * (number % 3), overview)
            assert memory.overview == disk.overview() == again.overview()
            contents = [store.load() for store in stores]
            assert contents[0] == contents[1] == contents[2]
        assert contents[0].snapshot
        assert contents[0].events
        assert memory.overview


def test_an_event_and_its_overview_are_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    """The disk becomes full in the middle of a transaction."""
    with closing(SqliteStore(tmp_path, most_pages=12)) as store:
        store.load()
        store.append([b"first"], b"overview")
        before = store.load()
        with pytest.raises(StoreError, match="the disk is full; make room and start again"):
            store.append([b"second"], bytes(100_000))
        assert store.load() == before
        with pytest.raises(StoreError, match="full"):
            store.save_snapshot(b"snapshot", [bytes(100_000)])
        assert store.load() == before
        store.append([b"third"])
        assert store.overview() == b"overview"
        assert store.load().events == (b"first", b"third")


def test_one_process_has_a_directory_at_a_time(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.load()
        store.append([b"mine"])
        with pytest.raises(StoreError, match="another process uses it"):
            SqliteStore(tmp_path)
    with closing(SqliteStore(tmp_path)) as store:
        assert store.load().events == (b"mine",)


WRITER = """
import sys
from pathlib import Path
from channelsim.channel.store.sqlite_store import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
store.load()
for number in range(10**6):
    store.append([b"%d" % number], b"%d" % number)
    print(number, flush=True)
    if number % 10 == 9:
        store.save_snapshot(b"%d" % number, [b"%d" % number])
"""


def test_what_a_killed_process_has_stored_is_there(tmp_path: Path) -> None:
    """All that it said it had stored, and nothing by halves; and its lock is gone."""
    least = 0
    for told in (1, 15, 33):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / str(told))], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(told)]
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().split()]
        writer.wait()
        writer.stdout.close()
        with closing(SqliteStore(tmp_path / str(told))) as store:
            contents = store.load()
            stored = int(store.overview())
        assert stored >= said[-1] >= told - 1
        newest = int(contents.events[-1]) if contents.events else int(contents.snapshot)
        assert newest == stored
        least = max(least, stored)
    assert least >= 32


def filled(directory: Path) -> bytes:
    """The file of a store with a snapshot, events and an overview."""
    with closing(SqliteStore(directory)) as store:
        store.load()
        store.append([b"opening event"], b"an overview")
        store.save_snapshot(b"the snapshot", [b"state zero", b"state one"])
        store.append([b"a later event"], b"another overview")
    return (directory / FILE).read_bytes()


@pytest.mark.parametrize("row", [b"opening event", b"a later event", b"the snapshot", b"state one"])
def test_a_changed_row_is_noticed_and_the_file_left_alone(tmp_path: Path, row: bytes) -> None:
    data = filled(tmp_path)
    assert data.count(row) == 1
    place = data.index(row)
    damaged = data[:place] + b"X" + data[place + 1 :]
    (tmp_path / FILE).write_bytes(damaged)
    with (
        closing(SqliteStore(tmp_path)) as store,
        pytest.raises(StoreError, match="damaged") as info,
    ):
        store.load()
    assert "\n" not in str(info.value)
    assert str(tmp_path / FILE) in str(info.value)
    assert (tmp_path / FILE).read_bytes() == damaged


def _statement(text: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            database.execute(text)
            database.commit()

    return change


def _foreign(path: Path) -> None:
    path.unlink()
    _statement("CREATE TABLE contacts (name TEXT)")(path)


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path: path.write_bytes(b"Dear all,\n" * 100), "not a store of channelsim"),
        (_foreign, "not a store of channelsim"),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:100] + bytes(9000)), "damaged"),
        (_statement("PRAGMA user_version = 3"), r"schema 3; this one has schema 4\).*end the"),
        (_statement("DELETE FROM facts WHERE name = 'code'"), "the code that began it is not"),
        (_statement("DELETE FROM states WHERE number = 0"), "row 0 of states is missing"),
        (_statement("UPDATE snapshots SET states = 1"), "the snapshot was changed"),
        (_statement("DROP TABLE facts"), "damaged"),
        (_fifo, "not a store of channelsim"),
        (lambda path: (path.unlink(), path.mkdir()), "not a store of channelsim"),
    ],
    ids=(
        "text",
        "foreign",
        "cut",
        "zeros",
        "version",
        "code",
        "row",
        "snapshot",
        "table",
        "fifo",
        "folder",
    ),
)
def test_what_is_no_store_is_refused_in_one_line_and_left_alone(
    tmp_path: Path, change: Callable[[Path], object], reason: str
) -> None:
    filled(tmp_path)
    path = tmp_path / FILE
    change(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=reason) as info, closing(SqliteStore(tmp_path)) as store:
        store.load()
    assert "\n" not in str(info.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert {one.name for one in tmp_path.iterdir()} <= {FILE, LOCK}


def test_a_process_killed_at_its_very_beginning_leaves_an_empty_store(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"")
    with closing(SqliteStore(tmp_path)) as store:
        assert store.load() == Contents()


def test_secret_moves_are_for_the_owner_alone(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "new")) as store:
        store.load()
        store.append([b"1"])
        modes = {one.name: one.stat().st_mode & 0o777 for one in (tmp_path / "new").iterdir()}
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


READER = """
import os, sys
from pathlib import Path
from channelsim.channel.store.sqlite_store import SqliteStore
if os.geteuid() == 0:
    os.setuid(65534)  # root may write everywhere
try:
    SqliteStore(Path(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("writable", ["nothing", "lock"])
def test_a_read_only_disk_is_refused_in_one_line(tmp_path: Path, writable: str) -> None:
    directory = tmp_path / "data"
    data = filled(directory)
    for one in directory.iterdir():
        one.chmod(0o666 if writable == "lock" and one.name == LOCK else 0o444)
    directory.chmod(0o555)
    # Folders of the test run are closed to other users.
    for folder in (tmp_path, *tmp_path.parents):
        if "pytest" in folder.name or folder == tmp_path:
            folder.chmod(0o755)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READER, str(directory)], capture_output=True, text=True
        )
        assert done.stderr == ""
        assert done.stdout.startswith(f"StoreError {directory}")
        assert done.stdout.count("\n") == 1
        assert "writ" in done.stdout
        assert (directory / FILE).read_bytes() == data
    finally:
        directory.chmod(0o755)
