"""A stolen store shows no secret of a deck; a store that is not sealed is still read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from channelsim.channel.peer.machine import Peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import PeerStore, StoreError
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
        with closing(SealedStore(SqliteStore(tmp_path / name), secret)) as sealed:
            again = DurablePeer(Peer(end.peer.config), sealed).peer
        assert again.endpoint.decks == end.endpoint.decks
        assert again.play.state == end.state
    assert found["plain"]
    assert all(found["plain"])
    assert not any(found["sealed"])


def test_sealed_bytes_that_were_changed_or_sealed_with_other_keys_are_refused() -> None:
    store = MemoryStore()
    SealedStore(store, b"secret").append([b"an event"], [("deck/1", b"a deck")])
    contents = store.load()
    with pytest.raises(StoreError, match="its event is sealed with other keys, or was changed"):
        SealedStore(store, b"another").load()
    swapped = MemoryStore()
    swapped.append(contents.events, [("deck/2", contents.records["deck/1"])])
    with pytest.raises(StoreError, match="deck/2 is sealed with other keys"):
        SealedStore(swapped, b"secret").load()
