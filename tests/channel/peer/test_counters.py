"""Counters that the other side can push up by legal messages: each of them ends cleanly."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest
from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.chain_news import ChannelClosed, ChannelSettled
from channelsim.channel.peer.interface import (
    BrokenOff,
    Close,
    Connected,
    DecksUsedUp,
    GameStarted,
    Ignored,
    NotProposed,
    PrepareDeck,
    ProposeGames,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.phases.resuming import last_numbers
from channelsim.channel.protocol.half_signed import check_halves, sign_halves
from channelsim.channel.protocol.messages import (
    LAST_DECK,
    LAST_GAME,
    LAST_STATE,
    DeckAbort,
    DeckStep,
    NamedDeck,
    Propose,
)
from channelsim.channel.protocol.proposals import offer_of
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.protocol.state_history import StateHistory
from tests.channel.peer.decks import high_card
from tests.channel.peer.hostile import quiet
from tests.channel.table import ANN, BEN, Cheat, Table, sit, wish


def renumbered(table: Table, number: int) -> Table:
    """Give the newest state this number, on both sides, and the one before it the one below."""
    holder = table.holder()
    states = [replace(table.ends[holder].state, number=one) for one in (number - 1, number)]
    assert number % 2 == holder, "who received the newest state holds the potato"
    for side, end in enumerate(table.ends):
        received = states[side == holder]
        other = table.ends[1 - side].endpoint
        halves = sign_halves(table.channel, other.secret_keys, received)
        signed = check_halves(table.channel, other.side, received, halves)
        history = StateHistory(states[0], signed if side != holder else None)
        history = history.with_state(states[1], signed if side == holder else None)
        play = replace(end.play, state=states[1], newest=signed, history=history)
        end.peer.state = replace(end.peer.state, play=play)
    return table


def with_state(table: Table, **fields: object) -> Table:
    """Change the newest state on both sides, but not what is signed of it."""
    for end in table.ends:
        state: ChannelState = replace(end.state, **fields)
        end.peer.state = replace(end.peer.state, play=replace(end.play, state=state))
    return table


def closed(table: Table) -> None:
    """Check that both sides close the channel together, and blame nobody."""
    table.pump().farm(8)
    for end in table.ends:
        assert len(end.news_of(ChannelClosed)) == 1
        assert not end.news_of(BrokenOff)


# --- numbers of states ---------------------------------------------------------------------------


@pytest.mark.parametrize("left", range(3))
@pytest.mark.parametrize("asks", [ANN, BEN])
def test_at_the_last_state_the_channel_is_closed_together(left: int, asks: int) -> None:
    table = sit().open()
    holder = table.holder()
    number = LAST_STATE - left
    if number % 2 != holder:
        table.ask(1 - holder)
        holder = table.holder()
    renumbered(table, number)
    for _ in range(left + 2):
        if all(end.peer.phase is Phase.PLAYING for end in table.ends):
            table.ask(1 - table.holder())
    closed(table)


@pytest.mark.parametrize("left", range(4))
def test_at_the_last_state_a_live_game_goes_on_chain(left: int) -> None:
    table = sit().open().propose(ANN)
    table.until(lambda: bool(table.ends[ANN].state.games) and not table.mail)
    number = LAST_STATE - left - (LAST_STATE - left - table.holder()) % 2
    renumbered(table, number)
    table.go_on()
    assert any(end.peer.phase is Phase.ON_CHAIN for end in table.ends)
    for _ in range(160):
        table.farm().go_on()
    for end in table.ends:
        assert len(end.news_of(ChannelSettled)) == 1
        assert not end.news_of(BrokenOff)


def test_last_numbers_at_the_end_are_understood() -> None:
    table = sit().open()
    if table.holder() != LAST_STATE % 2:
        table.ask(1 - table.holder())
    renumbered(table, LAST_STATE)
    table.driver.reconnect()
    closed(table)


# --- ids of games and proposals ------------------------------------------------------------------


@pytest.mark.parametrize("side", [ANN, BEN])
@pytest.mark.parametrize("left", range(3))
def test_the_last_ids_are_used_and_then_nothing_is_proposed(side: int, left: int) -> None:
    table = sit().open()
    last = LAST_GAME - (LAST_GAME - side) % 2
    ids = [0, 1]
    ids[side] = last + 2 - 2 * left
    with_state(table, next_ids=tuple(ids))
    end = table.ends[side]
    for _ in range(left):
        table.propose(side).go_on()
    assert len(end.news_of(GameStarted)) == left
    with pytest.raises(UsageError, match="the ids of games are used up"):
        table.propose(side)
    table.propose(1 - side).go_on()
    assert len(end.news_of(GameStarted)) == left + 1
    table.command(side, Close())
    table.go_on()
    closed(table)


def test_proposals_that_wait_share_the_last_ids() -> None:
    table = sit().open()
    table.ask(BEN)
    with_state(table, next_ids=(LAST_GAME - 1, 1))
    for _ in range(2):
        table.command(ANN, ProposeGames((wish(),)))
    table.go_on()
    (news,) = table.ends[ANN].news_of(NotProposed)
    assert isinstance(news, NotProposed)
    assert news.reason == "the ids of games are used up: close the channel"
    assert len(table.ends[BEN].news_of(GameStarted)) == 1


# --- numbers of decks ----------------------------------------------------------------------------


@pytest.mark.parametrize("left", range(3))
def test_the_last_decks_are_used_and_then_none_is_begun(left: int) -> None:
    settings = DeckSettings(4, 8, high_card.TOY, demonstration=True)
    table = sit(decks=settings).open()
    for end in table.ends:
        decks = changed(end.play.decks, highest=LAST_DECK - left)
        end.peer.state = replace(end.peer.state, play=replace(end.play, decks=decks))
    for _ in range(left):
        table.command(BEN, PrepareDeck())
        while table.driver.finish_step() or table.mail:
            table.pump()
    for side, end in enumerate(table.ends):
        assert len(end.play.decks.ready) == left
        assert len(end.news_of(DecksUsedUp)) == (left > 0)
        with pytest.raises(UsageError, match="the numbers of this channel are used up"):
            table.command(side, PrepareDeck())
    assert quiet(table.receive(BEN, DeckStep(0, 0, b"")))
    table.receive(ANN, DeckStep(LAST_DECK, 1, bytes(71)))
    table.receive(BEN, DeckAbort(LAST_DECK))
    table.driver.reconnect()
    table.propose(ANN).go_on()
    table.command(ANN, Close())
    table.go_on()
    closed(table)


def test_last_numbers_with_the_last_deck_use_up_nothing() -> None:
    table = sit().open()
    for side, end in enumerate(table.ends):
        table.handle(side, Connected())
        table.mail.clear()
        numbers = replace(last_numbers(table.ends[1 - side].play), highest_deck=LAST_DECK)
        assert all(quiet([one]) for one in table.receive(side, numbers) if not is_send(one))
        assert end.play.decks.highest == 0


def is_send(effect: object) -> bool:
    return type(effect).__name__ == "Send"


def test_proposals_that_name_the_last_decks_use_up_nothing() -> None:
    settings = DeckSettings(4, 8, high_card.TOY, demonstration=True)
    with high_card.registered():
        table = sit(decks=settings).open()
        table.ask(ANN)
        offer = offer_of(table.channel, ANN, 0, wish())
        offers = tuple(
            replace(offer, game_id=2 * n, deck=NamedDeck(LAST_DECK - n, bytes(32)))
            for n in range(100)
        )
        table.receive(BEN, Cheat(table, ANN).batch(Propose(offers)))
        assert table.ends[BEN].play.decks.highest == 0
        assert not table.ends[BEN].news_of(BrokenOff)
    assert not [one for one in table.ends[BEN].news if isinstance(one, Ignored)]
