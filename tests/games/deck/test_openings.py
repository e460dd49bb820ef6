"""Openings: the scalar of a lock, and the card behind two of them."""

from __future__ import annotations

import pytest

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import check_card
from channelsim.games.deck.secrets import encode_scalars
from tests.games.deck.decks import TOY, decks


def test_an_opening_opens_its_own_lock_only() -> None:
    ours, theirs = decks()
    for at in range(3):
        assert theirs.read_opening(at, ours.opening(at), of_initiator=True) == ours.own_locks[at]
        assert ours.read_opening(at, theirs.opening(at), of_initiator=False) == theirs.own_locks[at]
        wrong = [
            (theirs.opening(at), True),  # of the other side
            (ours.opening(at + 1), True),  # of another position
            (encode_scalars([ours.own_locks[at] + TOY.order]), True),
            (encode_scalars([0]), True),
            (encode_scalars([TOY.order]), True),
            (encode_scalars([TOY.order - ours.own_locks[at]]), True),
            (ours.opening(at)[1:], True),
            (ours.opening(at) + b"\0", True),
            (b"", True),
        ]
        for opening, of_initiator in wrong:
            with pytest.raises(DeckFault, match=r"^PD-13: "):
                theirs.read_opening(at, opening, of_initiator)


def test_a_card_is_claimed_as_it_is() -> None:
    ours, theirs = decks()
    at = 4
    scalars = (ours.own_locks[at], theirs.own_locks[at])
    card = ours.card(at, theirs.opening(at))
    check_card(TOY, ours.deck, ours.points[at], scalars, card)
    for other in (*(range(card)), *range(card + 1, 52), 52, 128, 255, -1):
        with pytest.raises(DeckFault, match=r"^PD-14: "):
            check_card(TOY, ours.deck, ours.points[at], scalars, other)
    with pytest.raises(DeckFault, match=r"^PD-14: "):
        check_card(TOY, ours.deck, ours.points[at + 1], scalars, card)


def test_the_card_of_a_wrong_opening_is_refused() -> None:
    ours, theirs = decks()
    with pytest.raises(DeckFault, match=r"^PD-13: "):
        ours.card(2, theirs.opening(3))
