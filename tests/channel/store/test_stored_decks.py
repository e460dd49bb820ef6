"""A restart with decks: those of games are there, and all others are given up (PD-10, PD-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from dataclasses import replace as changed
from functools import partial
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import (
    Connected,
    DeckBurnt,
    Effect,
    Erase,
    Event,
    GameSettled,
    GoOnChain,
    PrepareDeck,
    Received,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.peer_state import PeerState, play_of
from channelsim.channel.protocol.messages import (
    Batch,
    Cancel,
    DeckAbort,
    DeckStep,
    Propose,
    Request,
    decode,
    encode,
)
from channelsim.channel.protocol.proposals import offer_of
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.store import durable_peer
from channelsim.channel.store.decks import without_preparations
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.games.deck.secrets import encode_scalars
from tests.channel.peer.decks import high_card
from tests.channel.peer.decks.test_proposals import SETTINGS, call, high, prepare
from tests.channel.table import ANN, BALANCE, BEN, STAKE, Cheat, Table, sit, wish

SETUP = Setup(("highcard",), "", 9, 1, STAKE, BALANCE, ("caller", "caller"))


@pytest.fixture(autouse=True)
def _game() -> Iterator[None]:
    with high_card.registered():
        yield


@dataclass
class Stored:
    """An open channel between two durable peers, and their stores."""

    table: Table
    stores: list[MemoryStore]

    def restarted(self, side: int) -> Peer:
        """The peer that a restart makes from the store."""
        end = self.table.ends[side]
        return DurablePeer(Peer(end.peer.config), self.stores[side]).peer

    def disk(self, side: int) -> bytes:
        """All that is in the store of a side."""
        found = self.stores[side].load()
        return b"".join((*found.opening, found.snapshot, *found.states, *found.events))

    def check(self) -> None:
        """Check that a restart of either side now would be the same peer, without preparations."""
        for side, end in enumerate(self.table.ends):
            copy = Peer(end.peer.config, end.peer.state)
            copy.handle(Connected())
            assert lasting(self.restarted(side).state) == lasting(copy.state)


def stored(seed: str = "stored") -> Stored:
    table = sit(seed, decks=SETTINGS)
    stores = [MemoryStore(), MemoryStore()]
    for end, store in zip(table.ends, stores, strict=True):
        end.driven.actor = DurablePeer(end.peer, store)
    return Stored(table.open(), stores)


def lasting(state: PeerState) -> PeerState:
    """A state without what a restart may lack: idle blocks, preparations, and their answers."""
    state = without_preparations(state)
    pool = play_of(state).decks
    play = msgspec.structs.replace(
        play_of(state),
        decks=(pool.highest, pool.ready, pool.discarded),
    )
    return msgspec.structs.replace(state, play=play, block=Block(0), last_received=b"")


@pytest.mark.parametrize("every", [2, pytest.param(1000, marks=pytest.mark.long)])
def test_a_restart_at_any_time_has_the_finished_decks(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the journal alone, and from snapshots."""
    monkeypatch.setattr(durable_peer, "EVENTS_PER_SNAPSHOT", every)
    both = stored()
    table = both.table
    for proposer in (ANN, BEN):
        prepare(table, 2)
        both.check()
        table.propose(proposer, high())
        table.command(BEN, PrepareDeck())
        while table.driver.finish_step() or table.step(call, call):
            both.check()
        table.receive(ANN, DeckAbort(max(table.ends[ANN].play.decks.ready)))
        table.pump()
        both.check()
        table.farm().go_on(call, call)
        both.check()
    assert any(end.play.decks.ready for end in table.ends)


def test_a_preparation_is_not_on_disk() -> None:
    """Not its secrets, and not its messages: a restart cannot answer a second challenge."""
    both = stored()
    table = both.table
    table.command(BEN, PrepareDeck())
    for _ in range(3):
        table.driver.finish_step()
        if table.mail:
            table.deliver()
    for side, end in enumerate(table.ends):
        (one,) = end.play.decks.decks.values()
        assert one.preparation is not None
        contents = both.stores[side].load()
        disk = b"".join((*contents.events, *contents.opening))
        locks = getattr(one.preparation.stage, "secrets", None)
        if locks is not None:
            assert not any(encode_scalars([lock]) in disk for lock in locks.locks)
        again = both.restarted(side)
        assert not again.play.decks.decks
        assert again.play.decks.highest == 1, "the number is used up"


@pytest.mark.parametrize("restart", [False, True])
def test_locks_that_were_never_opened_leave_the_journal(restart: bool) -> None:
    """PD-16: they came with the event that brought the deck."""
    both = stored()
    table = prepare(both.table)
    locks = [
        {lock.to_bytes(32, "big") for lock in end.play.decks.ready[1].own_locks}
        for end in table.ends
    ]
    assert all(lock in both.disk(side) for side in (ANN, BEN) for lock in locks[side])
    table.propose(ANN, high()).go_on(call, call)
    table.farm().go_on(call, call)
    table.propose(BEN, wish()).go_on()
    assert not any(end.endpoint.decks for end in table.ends)
    if restart:
        for side, end in enumerate(table.ends):
            peer = Peer(end.peer.config)
            end.driven.actor = DurablePeer(peer, both.stores[side])
            end.peer.state = peer.state
            end.driven.actor.peer = end.peer
        table.driver.reconnect()
        table.pump()
    table.propose(ANN, wish()).go_on()
    said = b"".join(blob for _, blob in table.sent)
    for side in (ANN, BEN):
        unopened = {lock for lock in locks[side] if lock not in said}
        assert unopened
        assert not any(lock in both.disk(side) for lock in unopened)


@pytest.mark.parametrize("discarded", [False, True])
def test_no_file_has_the_locks_of_an_erased_deck_after_the_next_event(
    discarded: bool, tmp_path: Path
) -> None:
    """PD-16: not the journal, the database, or its write-ahead log."""
    table = sit("erased", decks=SETTINGS)
    end = table.ends[ANN]
    with closing(SqliteStore(tmp_path)) as store:  # unsealed, so that secrets can be seen
        end.driven.actor = DurablePeer(end.peer, store)
        prepare(table.open())
        locks = [lock.to_bytes(32, "big") for lock in end.play.decks.ready[1].own_locks]
        assert all(lock in on_disk(tmp_path) for lock in locks)
        if discarded:
            table.receive(ANN, DeckAbort(1))
        else:
            table.propose(ANN, high()).go_on(call, call)
            table.propose(BEN, wish()).go_on()
        assert Erase(1) in end.effects
        table.farm()
        said = b"".join(blob for _, blob in table.sent)
        unopened = [lock for lock in locks if lock not in said]
        assert unopened
        assert not any(lock in on_disk(tmp_path) for lock in unopened)


def on_disk(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.iterdir()))


def test_a_restarted_side_burns_the_deck_of_the_other() -> None:
    both = stored()
    table = both.table
    table.command(BEN, PrepareDeck())
    table.driver.finish_step()
    table.deliver()
    table.driver.finish_step()
    assert isinstance(decode(table.take_mail()), DeckStep)
    table.ends[BEN].driven.actor = DurablePeer(Peer(table.ends[BEN].peer.config), both.stores[BEN])
    table.driver.reconnect()
    table.pump()
    assert not any(end.play.decks.decks for end in table.ends)
    prepare(table)
    assert [[*end.play.decks.ready] for end in table.ends] == [[2], [2]]


def test_a_step_that_is_computed_after_play_changes_nothing() -> None:
    both = stored()
    table = both.table
    table.command(BEN, PrepareDeck())
    table.command(BEN, GoOnChain())
    phase = table.ends[BEN].peer.phase
    assert table.driver.finish_step()
    assert both.restarted(BEN).phase is table.ends[BEN].peer.phase is phase


def test_a_step_that_comes_again_leaves_a_ready_deck_as_it_is_also_to_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A restart knows no steps: it would burn the deck for one, and lack the next states."""
    both = stored()
    steps: dict[int, Event] = {}

    def note(side: int, handle: Callable[[Event], list[Effect]], event: Event) -> list[Effect]:
        if isinstance(event, Received) and isinstance(decode(event.message), DeckStep):
            steps[side] = event
        return handle(event)

    actors = [end.driven.actor for end in both.table.ends]
    for side, actor in enumerate(actors):
        monkeypatch.setattr(actor, "handle", partial(note, side, actor.handle))
    prepare(both.table)
    assert {*steps} == {ANN, BEN}
    for side, actor in enumerate(actors):
        actor.handle(steps[side])
        actor.handle(Received(encode(Request())))
        assert play_of(both.restarted(side).state).decks.ready
    both.check()


def test_a_refused_message_is_journalled_as_it_is() -> None:
    both = stored()
    event: Event = Received(b"no message")
    both.table.handle(ANN, event)
    assert both.restarted(ANN).phase is both.table.ends[ANN].peer.phase


# --- a restart gives up what nothing names -------------------------------------------------------


def restart(both: Stored, side: int) -> None:
    """Start a side again, and connect the two."""
    end = both.table.ends[side]
    end.driven.actor = DurablePeer(Peer(end.peer.config), both.stores[side])
    both.table.driver.restart(side)
    both.table.pump()


@pytest.mark.parametrize("side", [ANN, BEN])
@pytest.mark.parametrize("every", [2, 1000])
def test_a_restart_gives_up_ready_decks_and_new_ones_are_prepared(
    side: int, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable_peer, "EVENTS_PER_SNAPSHOT", every)
    both = stored()
    table = prepare(both.table, 2)
    end = table.ends[side]
    locks = [encode_scalars(deck.own_locks) for deck in end.play.decks.ready.values()]
    for number in (3, 4, 5):
        for _ in range(2):
            restart(both, side)
        assert [[*one.play.decks.decks] for one in table.ends] == [[], []]
        assert not end.endpoint.decks
        both.check()
        prepare(table)
        assert [[*one.play.decks.ready] for one in table.ends] == [[number], [number]]
    given_up = {news.number for news in end.news_of(DeckBurnt) if isinstance(news, DeckBurnt)}
    assert given_up == {1, 2, 3, 4}
    table.propose(ANN, high()).go_on(call, call)
    table.farm().go_on(call, call)
    assert len(end.news_of(GameSettled)) == 1
    both.check()
    restart(both, side)
    table.propose(BEN, wish()).go_on()
    assert not any(lock in both.disk(side) for lock in locks)


@pytest.mark.parametrize("side", [ANN, BEN])
@pytest.mark.parametrize("accepted", [False, True])
def test_a_restart_has_the_decks_of_games_and_open_proposals(side: int, accepted: bool) -> None:
    both = stored()
    table = prepare(both.table)
    table.propose(ANN, high())
    table.until(lambda: bool(table.ends[BEN].offers))
    if accepted:
        table.until(lambda: bool(table.ends[ANN].state.games) and not table.mail, call, call)
    restart(both, side)
    assert [*table.ends[side].endpoint.decks] == [1]
    table.go_on(call, call)
    table.farm().go_on(call, call)
    assert [len(end.news_of(GameSettled)) for end in table.ends] == [1, 1]


def test_a_copy_whose_counterparty_hides_newer_states_deals_no_used_deck_again() -> None:
    """With exchanged seats, the openings of the game that was played would show its cards."""
    both = stored()
    table = prepare(both.table)
    old_store, old_peer = deepcopy(both.stores[ANN]), table.ends[BEN].peer.state
    decks = table.ends[BEN].play.decks.ready
    table.propose(BEN, high(alice=True)).go_on(call, call)
    table.farm().go_on(call, call)
    assert len(table.ends[ANN].news_of(GameSettled)) == 1
    # Ann is restored from the copy, and Ben shows her nothing newer.
    both.stores[ANN] = old_store
    table.ends[BEN].driven.actor = Peer(table.ends[BEN].peer.config, old_peer)
    restart(both, ANN)
    assert table.ends[ANN].peer.phase is Phase.PLAYING, "she cannot know"
    table.ask(BEN)
    channel = changed(table.channel, decks=decks)
    offer = offer_of(channel, BEN, 1, high(alice=False, deck=1))
    table.receive(ANN, Cheat(table, BEN).batch(Propose((offer,))))
    (news,) = [
        action.reason
        for sender, blob in table.sent
        if sender == ANN and isinstance(batch := decode(blob), Batch)
        for action in batch.actions
        if isinstance(action, Cancel)
    ]
    assert news == "PD-10: deck 1 is not ready, or has been used"


def test_the_receivers_player_prepares_a_deck_again_after_a_restart() -> None:
    both = stored()
    table = prepare(both.table)
    for side in (ANN, BEN):
        peer = table.ends[BEN].peer
        player = SidePlayer(SETUP, peer, by_policy("caller", peer.config.secret))
        assert player.next_command() != PrepareDeck()
        restart(both, side)
        player = SidePlayer(SETUP, table.ends[BEN].peer, player.decide)
        assert player.next_command() == PrepareDeck()
        prepare(table)
