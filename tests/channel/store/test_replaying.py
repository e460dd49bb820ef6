"""Which code may replay a journal: the same reactions, whatever the version; others refuse it."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.store import replaying, sqlite_store
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.replaying import REACTIONS, Code
from channelsim.channel.store.sqlite_store import FILE, SqliteStore
from tests.channel.scenarios import play_hands
from tests.channel.table import ANN, sit

JOURNALS = {1: "8898242471526c2f"}
"""The digest of the stores of the sessions below, by the reactions of the code that wrote them."""

SESSIONS = ((("spacepoker",), None), (("spacepoker",), 12), (("calpoker",), 9))
"""The games, and when the receiver goes on chain."""


def stores_of(games: tuple[str, ...], leaves: int | None) -> dict[Side, MemoryStore]:
    """What both sides have stored at the end."""
    stores: dict[Side, MemoryStore] = {}

    def wrap(peer: Peer) -> DurablePeer:
        return DurablePeer(peer, stores.setdefault(peer.config.side, MemoryStore()))

    play_hands(games, "journal", wrap, leaves=leaves)
    return stores


def test_code_that_reacts_differently_has_another_number() -> None:
    """If this fails, peers react differently to events, or journals have another form.

    Raise `REACTIONS`, and write the new digest beside it: older journals are then refused.
    """
    digest = sha256()
    for games, leaves in SESSIONS:
        for _, store in sorted(stores_of(games, leaves).items()):
            found = store.load()
            for part in (*found.opening, found.snapshot, *found.states, *found.events):
                digest.update(sha256(part).digest())
    assert {REACTIONS: digest.hexdigest()[:16]} == JOURNALS


def begun_by(directory: Path, code: Code, monkeypatch: pytest.MonkeyPatch) -> Peer:
    """The peer of a store that this code began, at the end of its opening."""
    table = sit("begun")
    peer = table.ends[ANN].peer
    with monkeypatch.context() as other:
        other.setattr(sqlite_store, "OURS", code)
        other.setattr(replaying, "REACTIONS", code.reactions)
        with closing(SqliteStore(directory)) as store:
            table.ends[ANN].driven.actor = DurablePeer(peer, store)
            table.open()
    return peer


def test_a_journal_of_another_version_with_the_same_reactions_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = begun_by(tmp_path, Code("0.0.9", REACTIONS), monkeypatch)
    with closing(SqliteStore(tmp_path)) as store:
        again = DurablePeer(Peer(before.config), store)
    assert again.peer.play.history.state == before.play.history.state
    assert again.peer.phase is before.phase


def test_a_journal_of_other_reactions_is_refused_in_one_line_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun_by(tmp_path, Code("0.0.9", REACTIONS + 1), monkeypatch)
    stored = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreError) as refused:
        SqliteStore(tmp_path)
    assert f"{refused.value}" == (
        f"{tmp_path / FILE}: written by other code of channelsim (version '0.0.9', reactions"
        f" {REACTIONS + 1}; this one has reactions {REACTIONS}); nothing was written to it: end the"
        " channel with the version that began it (channelsim close, or recover), then start a new"
        " one with this version"
    )
    assert (tmp_path / FILE).read_bytes() == stored
