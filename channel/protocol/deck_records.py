"""Records of finished decks. A deck in preparation is never stored: a crash burns it (PD-12)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import SCALAR_SIZE, Group
from channelsim.games.deck.secrets import encode_scalars
from channelsim.games.deck.terms import decode_terms


class DeckRecord(msgspec.Struct, frozen=True):
    """A finished deck as this side holds it.

    `named`: a proposal has named it, so no other one may. `own_locks` are scalars of 32 bytes.
    """

    terms: bytes
    deck: bytes
    points: tuple[bytes, ...]
    initiator_keys: tuple[bytes, ...]
    receiver_keys: tuple[bytes, ...]
    is_initiator: bool
    own_locks: bytes
    named: bool


def encode_deck(deck: FinishedDeck, *, named: bool) -> bytes:
    """The record of a finished deck."""
    record = DeckRecord(
        deck.terms.encode(),
        deck.deck,
        deck.points,
        deck.initiator_keys,
        deck.receiver_keys,
        deck.is_initiator,
        encode_scalars(deck.own_locks),
        named,
    )
    return msgspec.msgpack.encode(record)


def decode_deck(group: Group, data: bytes) -> FinishedDeck:
    """The deck in a record. Raises `msgspec.DecodeError` for a damaged one."""
    record = msgspec.msgpack.decode(data, type=DeckRecord)
    locks = record.own_locks
    try:
        terms = decode_terms(record.terms)
    except DeckFault as fault:
        raise msgspec.DecodeError(f"the record of a deck is damaged: {fault}") from None
    own_locks = tuple(
        int.from_bytes(locks[at : at + SCALAR_SIZE], "big")
        for at in range(0, len(locks), SCALAR_SIZE)
    )
    if len(own_locks) != terms.positions or len(record.points) != terms.positions:
        raise msgspec.DecodeError("the record of a deck is damaged: it lacks positions")
    return FinishedDeck(
        group,
        terms,
        record.deck,
        record.points,
        record.initiator_keys,
        record.receiver_keys,
        record.is_initiator,
        own_locks,
    )


def restore_decks(
    group: Group, records: Iterable[bytes]
) -> tuple[dict[int, FinishedDeck], dict[int, FinishedDeck]]:
    """The decks in records, by number: those still free, and those that a proposal has named.

    Raises `msgspec.DecodeError` for a damaged one.
    """
    decks: tuple[dict[int, FinishedDeck], dict[int, FinishedDeck]] = ({}, {})
    for data in records:
        deck = decode_deck(group, data)
        named = msgspec.msgpack.decode(data, type=DeckRecord).named
        decks[named][deck.terms.number] = deck
    return decks
