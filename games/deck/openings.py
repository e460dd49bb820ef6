"""Openings of a real deck, as validators judge them: with a verdict, remembered for a while.

A move is often judged several times, with other evidence or another share; its openings, a
multiplication in the group each, are checked once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import check_card
from channelsim.games.deck.group import SCALAR_SIZE, real_group
from channelsim.games.deck.terms import CARDS, card_points

_REMEMBERED = 4096

KEPT_DECKS = 8
"""Decks of which the points of all cards are remembered."""


def is_opening(key: bytes, scalar: bytes) -> bool:
    """True if a scalar opens the lock of a key (PD-13)."""
    number = int.from_bytes(scalar, "big")
    in_range = len(scalar) == SCALAR_SIZE and 0 < number < real_group().order
    return in_range and has_key(number, key)


@lru_cache(_REMEMBERED)
def has_key(scalar: int, key: bytes) -> bool:
    """True if a lock with this scalar has this key."""
    group = real_group()
    return group.multiply([(scalar, group.base)]) == [key]


def is_card(deck_id: bytes, point: bytes, mine: bytes, theirs: bytes, card: int) -> bool:
    """True if a card lies behind a point whose two locks these scalars open (PD-14)."""
    scalars = int.from_bytes(mine, "big"), int.from_bytes(theirs, "big")
    return 0 <= card < CARDS and lies_behind(card, deck_id, point, *scalars)


@lru_cache(_REMEMBERED)
def lies_behind(card: int, deck_id: bytes, point: bytes, mine: int, theirs: int) -> bool:
    """True if one of the 52 cards lies behind a point with these two locks."""
    try:
        check_card(real_group(), deck_id, point, (mine, theirs), card)
    except DeckFault:
        return False
    return True


@lru_cache(1024)
def card_behind(deck_id: bytes, point: bytes, both: int) -> int | None:
    """The card behind a point, from the product of both locks' scalars; None if there is none."""
    group = real_group()
    (bare,) = group.multiply([(pow(both, -1, group.order), point)])
    return _cards(deck_id).get(bare)


@lru_cache(KEPT_DECKS)
def _cards(deck_id: bytes) -> Mapping[bytes, int]:
    """The cards of a deck by their points."""
    return {point: number for number, point in enumerate(card_points(real_group(), deck_id))}


def forget_openings() -> None:
    """Check every opening anew, for measurements."""
    has_key.cache_clear()
    lies_behind.cache_clear()
    card_behind.cache_clear()
