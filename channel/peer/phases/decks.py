"""Decks ahead of their games: messages, results and blocks for the pool, and what is erased.

Source: spec/deck.md, "Decks of a channel".
"""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.peer.config import Config
from channelsim.channel.peer.decks import pool as pools
from channelsim.channel.peer.decks.pool import DeckPool, PoolTransition
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    DeckComputed,
    DecksChanged,
    Effect,
    Erase,
    PrepareDeck,
)
from channelsim.channel.peer.peer_state import PeerState, Transition, endpoint_of, play_of
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.deck_records import decode_deck
from channelsim.channel.protocol.messages import DeckAbort, DeckStep, Resume


def on_prepare(config: Config, state: PeerState, command: PrepareDeck) -> Transition:
    """Begin one more deck. Raises `UsageError`."""
    return _with_pool(state, pools.prepare(play_of(state).decks))


def on_step(config: Config, state: PeerState, message: DeckStep) -> Transition:
    """Take a step of the other side."""
    return _with_pool(state, pools.receive(play_of(state).decks, message))


def on_abort(config: Config, state: PeerState, message: DeckAbort) -> Transition:
    """Drop a deck that the other side gives up."""
    return _with_pool(state, pools.given_up(play_of(state).decks, message))


def on_computed(config: Config, state: PeerState, event: DeckComputed) -> Transition:
    """Answer a step that is computed."""
    return _with_pool(state, pools.computed(play_of(state).decks, event.result, state.block.peak))


def on_changed(config: Config, state: PeerState, event: DecksChanged) -> Transition:
    """Take up decks that came and went without messages."""
    pool = play_of(state).decks
    added = [decode_deck(pool.settings.group, record) for record in event.added]
    return _with_pool(state, pools.change(pool, event.highest, added, event.removed))


def on_resume(config: Config, state: PeerState, message: Resume) -> Transition:
    """Give up decks that the other side does not have, and repeat what it may lack."""
    return _with_pool(
        state, pools.resume(play_of(state).decks, message.decks, message.highest_deck)
    )


def on_block(config: Config, state: PeerState) -> Transition:
    """Give up decks whose next step is late."""
    times = config.agreement.times
    pool = play_of(state).decks
    return _with_pool(state, pools.expire(pool, state.block.peak, times.response + times.margin))


def drop_all(state: PeerState) -> Transition:
    """Drop the decks of no live game when play ends: none of them will be used.

    No open proposal becomes a game any more.
    """
    play = play_of(state)
    pool = play.decks
    empty = DeckPool(pool.side, pool.channel_id, pool.settings, pool.highest)
    return _erased(state, replace(play, decks=empty), play_ends=True)


def erase(
    endpoint: Endpoint, play: PlayState, *, play_ends: bool = False
) -> tuple[Endpoint, list[Effect]]:
    """Erase the secrets of decks that no game needs any more (PD-16).

    A game is final when the newest state that either side can publish no longer has it.
    """
    if not endpoint.decks and not play.decks.decks:
        return endpoint, []
    ready = play.decks.ready
    groups = () if play_ends else play.state.groups
    named = {number for group in groups for number in group.decks()}
    games = (*play.state.games, *play.newest.state.games)
    live = {game.terms.deck.deck_id for game in games if game.terms.deck is not None}
    left = {
        number: deck
        for number, deck in endpoint.decks.items()
        if number in ready or number in named or deck.deck in live
    }
    erased: list[Effect] = [Erase(number) for number in endpoint.decks if number not in left]
    if erased or ready.keys() - left.keys():
        endpoint = endpoint.with_decks({**left, **ready})
    return endpoint, erased


def _with_pool(state: PeerState, transition: PoolTransition) -> Transition:
    pool, effects = transition
    play = play_of(state)
    if pool is not play.decks:
        play = replace(play, decks=pool)
    state, erased = _erased(state, play)
    return state, [*effects, *erased]


def _erased(state: PeerState, play: PlayState, *, play_ends: bool = False) -> Transition:
    """The state with this state of play, and without the secrets that no game needs any more."""
    before = endpoint_of(state)
    endpoint, erased = erase(before, play, play_ends=play_ends)
    if endpoint is not before or play is not state.play:
        state = replace(state, endpoint=endpoint, play=play)
    return state, erased
