"""Records of finished decks, and of the numbers that are used up.

A deck in preparation is never stored: a crash burns it (PD-12). The highest number used is stored
before its first step is sent or answered (PD-10), and a finished deck before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import SCALAR_SIZE, Group
from channelsim.games.deck.secrets import encode_scalars
from channelsim.games.deck.terms import decode_terms

HIGHEST = "deck/highest"
"""The name under which the highest number used is stored."""


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


@dataclass(frozen=True, slots=True)
class RestoredDecks:
    """The decks of a channel after a crash, by number: those still free, and those of games.

    Every other number up to `highest` is burnt.
    """

    highest: int
    free: Mapping[int, FinishedDeck]
    named: Mapping[int, FinishedDeck]


def record_name(number: int) -> str:
    """The name under which a deck is stored."""
    return f"deck/{number}"


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


def encode_highest(number: int) -> bytes:
    """The record of the highest number used."""
    return msgspec.msgpack.encode(number)


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


def is_free(data: bytes) -> bool:
    """True if no proposal has named the deck in a record. Raises `msgspec.DecodeError`."""
    return not msgspec.msgpack.decode(data, type=DeckRecord).named


def restore_decks(group: Group, records: Mapping[str, bytes]) -> RestoredDecks:
    """The decks in the records of a channel, by the names that they were stored under.

    Other records are left alone. Raises `msgspec.DecodeError` for a damaged one.
    """
    highest = 0
    decks: tuple[dict[int, FinishedDeck], dict[int, FinishedDeck]] = ({}, {})
    for name, data in records.items():
        if name == HIGHEST:
            highest = msgspec.msgpack.decode(data, type=int)
        elif name.startswith("deck/"):
            deck = decode_deck(group, data)
            decks[not is_free(data)][deck.terms.number] = deck
    return RestoredDecks(highest, *decks)
