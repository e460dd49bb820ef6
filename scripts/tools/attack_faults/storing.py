"""Faults around a peer: in its store, and in the watcher's data and spends."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from channelsim.channel.peer.interface import (
    Erase,
    Watch,
)
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.store import durable_peer, sqlite_store
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.sealed_store import Seal
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.system import line_log
from channelsim.channel.watch.pusher import Pusher
from channelsim.channel.watch.watcher import Watcher
from scripts.tools.attack_faults.planting import (
    Fault,
    all_of,
    changing,
    compared,
    function,
    marking,
)

# --- the store -----------------------------------------------------------------------------------


@contextmanager
def _swallowed(right: Any, store: Any) -> Iterator[None]:
    with suppress(sqlite3.Error):
        yield


@contextmanager
def _failing_once(right: Any, durable: Any) -> Iterator[None]:
    yield


def _but_the_last(right: Any, store: Any, events: Sequence[bytes], overview: bytes = b"") -> None:
    right(store, events[:-1] if len(events) > 1 else events, overview)


def _one_event_behind(right: Any, durable: Any, *given: Any) -> None:
    waiting, durable.waiting = getattr(durable, "waiting", None), given
    if waiting is not None:
        right(durable, *waiting)


def _unless(kind: type) -> Any:
    def note(reach: Any, right: Any, durable: Any, event: Any, effects: Any) -> None:
        left = [effect for effect in effects if not isinstance(effect, kind)]
        if left != [*effects]:
            reach.mark()
        right(durable, event, effects if reach.probes else left)

    return note


def _newest_connection(right: Any, durable: Any, event: Any, before: Any) -> None:
    durable._pending.clear()  # noqa: SLF001
    right(durable, event, before)


def _with(pragma: str) -> Any:
    def synchronise(right: Any, store: Any) -> None:
        right(store)
        store._database.execute(pragma)  # noqa: SLF001

    return synchronise


def _readable(right: Any, store: Any, most_pages: int) -> None:
    right(store, most_pages)
    store._path.chmod(0o644)  # noqa: SLF001


def _unlocked(right: Any, directory: Path) -> int:
    descriptor = int(right(directory))
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return descriptor


def _due_again(right: Any, durable: Any) -> None:
    right(durable)
    durable._since_snapshot = 1 << 20  # noqa: SLF001


STORE = (
    Fault(
        "synchronises-no-transaction",
        "store",
        "SQLite does not synchronise each transaction with the disk",
        function(SqliteStore, "_synchronise", _with("PRAGMA synchronous = NORMAL")),
    ),
    Fault(
        "keeps-what-it-deletes",
        "store",
        "what is deleted from the store stays in its file until it is written over",
        function(SqliteStore, "_synchronise", _with("PRAGMA secure_delete = OFF")),
    ),
    Fault(
        "shows-its-file",
        "store",
        "other users of the machine can read the store",
        function(SqliteStore, "_open", _readable),
    ),
    Fault(
        "holds-no-lock",
        "store",
        "two processes can use a store at once",
        function(sqlite_store, "_locked", _unlocked),
    ),
    Fault(
        "seals-for-any-place",
        "store",
        "what is sealed for one place of the store is taken at another",
        all_of(
            function(Seal, "sealed", lambda right, seal, place, data: right(seal, (b"any",), data)),
            function(
                Seal, "unsealed", lambda right, seal, place, data: right(seal, (b"any",), data)
            ),
        ),
    ),
    Fault(
        "saves-with-each-event",
        "store",
        "a snapshot is taken with each event after the first one",
        function(DurablePeer, "_save_snapshot", _due_again),
    ),
    Fault(
        "swallows-errors",
        "store",
        "a statement that fails is taken for one that was done",
        function(SqliteStore, "_reported", _swallowed),
    ),
    Fault(
        "writes-on-after-an-error",
        "store",
        "a peer goes on after its store has failed",
        function(DurablePeer, "_failing", _failing_once),
    ),
    Fault(
        "opens-without-synchronising",
        "store",
        "what an earlier process wrote without synchronising is taken for lasting",
        function(SqliteStore, "_synchronise", lambda right, store: None),
    ),
    Fault(
        "loses-the-last-of-several",
        "store",
        "of events that are written together the last is lost",
        function(SqliteStore, "append", _but_the_last),
    ),
    Fault(
        "one-event-behind",
        "store",
        "an event is written with the next one",
        function(DurablePeer, "_keep", _one_event_behind),
    ),
    Fault(
        "asks-no-more",
        "store",
        "a player is not asked again after a restart",
        function(DurablePeer, "_questions", lambda right, durable: []),
    ),
    Fault(
        "forgets-coins-of-the-journal",
        "store",
        "a restart does not watch the coins that events of the journal named",
        marking(DurablePeer, "_note", _unless(Watch), _unless(Watch)),
    ),
    Fault(
        "takes-no-erasing-snapshot",
        "store",
        "no snapshot is taken when secrets are erased",
        marking(DurablePeer, "_note", _unless(Erase), _unless(Erase)),
    ),
    Fault(
        "writes-no-reveals",
        "store",
        "a snapshot has no early reveals",
        function(DurablePeer, "_note_reveal", lambda right, durable, event: None),
    ),
    Fault(
        "drops-events-that-changed-nothing",
        "store",
        "an event that changed nothing is not written when something follows from it",
        function(DurablePeer, "_postpone", lambda right, durable, event, before: None),
    ),
    Fault(
        "keeps-the-newest-event-only",
        "store",
        "of events that changed nothing the newest is written only",
        function(DurablePeer, "_postpone", _newest_connection),
    ),
    Fault(
        "keeps-preparations",
        "store",
        "decks in preparation live on over a restart",
        compared(durable_peer, "without_preparations", lambda right, state: state),
    ),
    Fault(
        "names-decks-after-a-restart",
        "store",
        "ready decks are not given up by a restart",
        function(durable_peer, "given_up_by_restart", lambda right, state: None),
    ),
    Fault(
        "snapshots-lose-a-state",
        "store",
        "a snapshot does not write the oldest of its new states",
        changing(durable_peer, "encode_newer", lambda rows: rows[1:] if len(rows) > 2 else rows),
    ),
    Fault(
        "erases-nothing-on-disk",
        "store",
        "erased secrets stay in the log of the database",
        function(
            SqliteStore,
            "save_snapshot",
            lambda right, store, snapshot, states, erases=False: right(store, snapshot, states),
        ),
    ),
    Fault(
        "writes-what-changed-nothing",
        "store",
        "events that changed nothing are written, too",
        function(durable_peer, "_changed_nothing", lambda right, *given: False),
    ),
    Fault(
        "takes-no-snapshots",
        "store",
        "the journal grows without end",
        function(durable_peer, "can_be_saved", lambda right, state: False),
    ),
    Fault(
        "seals-nothing",
        "store",
        "the store has secrets that anybody can read",
        all_of(
            function(Seal, "sealed", lambda right, seal, place, data: b"\xc1" + data),
            function(Seal, "unsealed", lambda right, seal, place, data: data[1:]),
        ),
    ),
)

# --- the watcher ---------------------------------------------------------------------------------


def _one_behind(right: Any, watched: Any, state: PeerState) -> None:
    play = state.play
    if play is not None and play.history.older is not None:
        play = replace(play, history=play.history.older)
    right(watched, replace(state, play=play))


def _newest_once(right: Any, watched: Any, newest: Any) -> None:
    if not hasattr(watched, "replaced"):
        right(watched, newest)
    watched.__dict__["replaced"] = True


def _at_restarts(right: Any, watched: Any, event: Any) -> Any:
    return watched.durable.handle(event)


WATCHER = (
    Fault(
        "watch-data-one-behind",
        "watcher",
        "the watcher's data lack the newest state",
        function(WatchedPeer, "_follow", _one_behind),
    ),
    Fault(
        "watch-data-of-the-start",
        "watcher",
        "the state that preempts is written once only",
        function(WatchedPeer, "_replace", _newest_once),
    ),
    Fault(
        "watch-data-at-restarts",
        "watcher",
        "the watcher's data are written only when a process starts",
        function(WatchedPeer, "handle", _at_restarts),
    ),
    Fault(
        "watcher-only-looks",
        "watcher",
        "a watcher pushes nothing",
        function(Pusher, "push", lambda right, *given: None),
    ),
    Fault(
        "watcher-preempts-nothing",
        "watcher",
        "a watcher lets stale states stand",
        changing(Watcher, "_preempt", lambda bundle: None),
    ),
    Fault(
        "watcher-times-out-nothing",
        "watcher",
        "a watcher does not pay a state out",
        changing(Watcher, "_time_out", lambda bundle: None),
    ),
    Fault(
        "watcher-waits-for-the-timeout",
        "watcher",
        "a watcher preempts when the timeout is over",
        function(
            Watcher, "__init__", lambda right, watcher, data, wait: right(watcher, data, 1 << 20)
        ),
    ),
    Fault(
        "refuses-torn-lines",
        "watcher",
        "an incomplete last line makes a file of lines unusable",
        function(line_log, "_end_of_lines", lambda right, file: file.seek(0, 2)),
    ),
)
