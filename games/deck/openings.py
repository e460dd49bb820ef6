"""Openings of a real deck, as validators judge them: with a verdict, remembered for a while.

A move is often judged several times, with other evidence or another share; its openings, a
multiplication in the group each, are checked once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import check_card, read_opening
from channelsim.games.deck.group import real_group
from channelsim.games.deck.terms import card_points

_REMEMBERED = 4096

KEPT_DECKS = 8
"""Decks of which the points of all cards are remembered."""


@lru_cache(_REMEMBERED)
def is_opening(key: bytes, scalar: bytes) -> bool:
    """True if a scalar opens the lock of a key (PD-13)."""
    try:
        read_opening(real_group(), key, scalar)
    except DeckFault:
        return False
    return True


@lru_cache(_REMEMBERED)
def is_card(deck_id: bytes, point: bytes, mine: bytes, theirs: bytes, card: int) -> bool:
    """True if a card lies behind a point whose two locks these scalars open (PD-14)."""
    scalars = int.from_bytes(mine, "big"), int.from_bytes(theirs, "big")
    try:
        check_card(real_group(), deck_id, point, scalars, card)
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
    is_opening.cache_clear()
    is_card.cache_clear()
    card_behind.cache_clear()
