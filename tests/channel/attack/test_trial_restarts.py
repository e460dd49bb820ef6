"""Restarts that are tried beside a process: what a store lacks is found, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.noted_store import NotedStore, SealedSecrets
from channelsim.channel.attack.trial_restarts import EVENTS, is_due, wrong_restart
from channelsim.channel.attack.world import run
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.peer.interface import Connected
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.event_codec import JournalEvent, decode_event
from channelsim.channel.store.interface import Contents
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.replays import Replays
from channelsim.channel.store.sealed_store import SealedStore
from tests.channel.table import ANN, sit


def test_a_restart_is_tried_after_some_events_and_with_each_snapshot() -> None:
    store = NotedStore(MemoryStore(), SealedSecrets())

    def due(snapshot: bytes) -> list[int]:
        numbers = []
        for number in range(2 * EVENTS + 1):
            store.contents = Contents((), snapshot, (), (b"",) * number)
            numbers += [number] * is_due(store)
        return numbers

    assert due(b"") == [0, EVENTS, 2 * EVENTS]
    assert due(b"snapshot") == [0, 1, EVENTS, 2 * EVENTS]


CONFIG = sit().ends[ANN].peer.config

COIN = Coin(bytes(32), bytes(32), 7)


def stored() -> tuple[NotedStore, PeerState]:
    """The store of a peer that has just said its first message, and its state."""
    store = NotedStore(MemoryStore(), SealedSecrets())
    durable = DurablePeer(Peer(CONFIG), SealedStore(store, CONFIG.secret))
    durable.start(5)
    durable.handle(Connected())
    return store, durable.peer.state


def test_what_the_store_leads_to_is_compared_with_the_running_peer() -> None:
    store, state = stored()
    assert store.contents == store.load()
    assert [*wrong_restart(CONFIG, store, state, (), set())] == []
    (found,) = wrong_restart(CONFIG, store, state, (), {COIN})
    assert found == "would not watch 1 of its coins after a restart"
    known = structs.replace(state, last_received=b"digest")
    (found,) = wrong_restart(CONFIG, store, known, (), set())
    assert found == "would have other last_received after a restart"
    assert [*wrong_restart(CONFIG, store, known, (b"",), set())] == []


@pytest.mark.parametrize("lost", ["all", "some"])
def test_a_store_that_has_lost_its_bytes_is_found(lost: str) -> None:
    store, state = stored()
    events = store.contents.events
    kept = () if lost == "all" else (events[0][:-1] + b"x", *events[1:])
    store.contents = replace(store.contents, events=kept)
    (found,) = wrong_restart(CONFIG, store, state, (), set())
    assert found.startswith("would have other" if lost == "all" else "could not start again")


def test_a_trial_replays_what_trials_before_have_not(monkeypatch: pytest.MonkeyPatch) -> None:
    store, state = stored()
    replays, replayed = Replays(), list[bytes]()
    assert [*wrong_restart(CONFIG, store, state, (), set(), replays)] == []

    def noted(data: bytes, block: Block) -> JournalEvent:
        replayed.append(data)
        return decode_event(data, block)

    monkeypatch.setattr("channelsim.channel.store.durable_peer.decode_event", noted)
    assert [*wrong_restart(CONFIG, store, state, (), set(), replays)] == []
    assert not replayed
    assert [*wrong_restart(CONFIG, store, state, (), set())] == []
    assert len(replayed) == len(store.contents.events)


def test_a_trial_relies_on_no_bytes_that_are_others_by_now() -> None:
    store, state = stored()
    replays, events = Replays(), store.contents.events
    assert [*wrong_restart(CONFIG, store, state, (), set(), replays)] == []
    for wrong, how in (((), "would have other"), ((*events[:-1], b"x"), "could not start")):
        store.contents = Contents(events=wrong)
        (found,) = wrong_restart(CONFIG, store, state, (), set(), replays)
        assert found.startswith(how)
    store.contents = Contents(events=(*events, b"x"))
    (found,) = wrong_restart(CONFIG, store, state, (), set(), replays)
    assert found.startswith("could not start")


def test_a_connection_that_forgets_early_messages_forgets_the_last_one() -> None:
    """The repeat of another message, which changes nothing, is not stored."""
    said = (Action("say", 1, 2, 547), Action("say", 1, 4, 357))
    session = run(Attack(("calpoker",), "merged-29/97", said, 1))
    assert session.done == said
    assert session.violations == ()


def test_a_message_that_changes_nothing_may_be_lost_beside_held_steps() -> None:
    """The steps of decks that a side holds in its opening are forgotten by each restart."""
    actions = (Action("deviate", 0, 0, name="deck-flood"), Action("say", 0, 3, 618))
    with fast_signatures():
        assert (
            run(
                Attack(("calpoker",), "f2-2/160", actions, hands=1, policies=("random", "greedy"))
            ).violations
            == ()
        )
