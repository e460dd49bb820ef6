"""A stolen store shows no secret of a deck, and only bytes sealed for their place are taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from channelsim.channel.peer.machine import Peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import Contents, PeerStore, StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
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
    (b"state 0", b"state 1"),
    (b"third", b"fourth"),
)


def filled(store: PeerStore) -> PeerStore:
    """A store with all kinds of bytes, behind a seal or not."""
    store.load()
    store.append(PLAIN.opening[:2])
    store.append(PLAIN.opening[2:])
    store.save_snapshot(b"an older snapshot", PLAIN.states[:1])
    store.append([b"since the older one"])
    store.save_snapshot(PLAIN.snapshot, PLAIN.states[1:])
    store.append(PLAIN.events[:1])
    store.append(PLAIN.events[1:])
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
        **{f"states {n}": data for n, data in enumerate(contents.states)},
    }


def with_row(contents: Contents, place: str, data: bytes) -> Contents:
    """The contents with other bytes at one place."""
    kind, _, which = place.partition(" ")
    if kind == "snapshot":
        return replace(contents, snapshot=data)
    kinds = {"opening": contents.opening, "states": contents.states, "events": contents.events}
    changed = list(kinds[kind])
    changed[int(which)] = data
    match kind, tuple(changed):
        case "opening", some:
            return replace(contents, opening=some)
        case "states", some:
            return replace(contents, states=some)
        case _, some:
            return replace(contents, events=some)


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
    assert refused(replace(sealed, states=sealed.states[1:]))
    assert refused(replace(sealed, snapshot=b""))


def test_what_was_sealed_with_other_keys_is_refused() -> None:
    line = refused(sealed_contents(), b"another")
    assert "its snapshot is sealed with other keys, or was changed" in line
