"""The decks of a stored peer: a restart has those of games and proposals, and no other (PD-12).

The journal leaves out how a deck was prepared, and says what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace as changed

from msgspec.structs import replace

from channelsim.channel.errors import Violation
from channelsim.channel.peer.decks.pool import DeckPool, OpenDeck
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    DeckComputed,
    DecksChanged,
    Event,
    PrepareDeck,
    Received,
)
from channelsim.channel.peer.peer_state import PeerState, Phase, endpoint_of, play_of
from channelsim.channel.protocol.deck_records import encode_deck, restore_decks
from channelsim.channel.protocol.messages import DeckAbort, DeckStep, decode


def prepares_decks(event: Event, before: PeerState, after: PeerState) -> bool:
    """True if an event can change nothing but decks that no game has named."""
    if isinstance(event, PrepareDeck | DeckComputed):
        return True
    play = before.play
    if before.phase is not Phase.PLAYING or play is None or not isinstance(event, Received):
        return False
    if after.play is not None and after.play.history is not play.history:
        return False  # a batch, which is not read a second time
    try:
        return isinstance(decode(event.message), DeckStep | DeckAbort)
    except Violation:
        return False


def decks_changed(before: PeerState, after: PeerState) -> list[DecksChanged]:
    """The event that stands for such a change in the journal; none if nothing lasting changed."""
    if after is before:
        return []  # what is computed after play counts no more
    old, new = play_of(before).decks, play_of(after).decks
    finished = [deck for number, deck in new.ready.items() if number not in old.ready]
    added = tuple(encode_deck(deck, named=False) for deck in finished)
    removed = tuple(number for number in old.ready if number not in new.ready)
    if new.highest == old.highest and not added and not removed:
        return []
    return [DecksChanged(new.highest, added, removed)]


def without_preparations(state: PeerState) -> PeerState:
    """The state as a restart has it: every deck in preparation is burnt."""
    if state.play is None:
        return state
    pool = state.play.decks
    ready = {number: one for number, one in pool.decks.items() if one.deck is not None}
    pool = changed(pool, decks=ready, discarded=frozenset())
    return replace(state, play=replace(state.play, decks=pool))


def given_up_by_restart(state: PeerState) -> DecksChanged | None:
    """The event by which a restart gives up the ready decks that nothing names; None without any.

    The store may be an old copy, and those decks used since: with exchanged seats, a counterparty
    that hides its newer states would see the cards that were opened then (PD-12).
    """
    if state.phase is not Phase.PLAYING:
        return None
    pool = play_of(state).decks
    return DecksChanged(pool.highest, (), tuple(sorted(pool.ready))) if pool.ready else None


def encode_decks(state: PeerState) -> tuple[bytes, ...]:
    """All finished decks of a peer, those of games too."""
    pool = play_of(state).decks
    return tuple(
        encode_deck(deck, named=number not in pool.ready)
        for number, deck in endpoint_of(state).decks.items()
    )


def decode_decks(
    pool: DeckPool, endpoint: Endpoint, highest: int, records: Iterable[bytes]
) -> tuple[DeckPool, Endpoint]:
    """The pool and the endpoint with these decks; `highest` is the highest number used.

    Raises `msgspec.DecodeError`.
    """
    free, named = restore_decks(pool.settings.group, records)
    open_decks = {number: OpenDeck(deck=deck) for number, deck in free.items()}
    return (
        changed(pool, highest=highest, decks=open_decks),
        endpoint.with_decks({**free, **named}),
    )
