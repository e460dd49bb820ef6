"""The simulated dealer makes the deck that a preparation with the same secrets makes."""

from __future__ import annotations

from channelsim.games.deck.finished import simulated_decks
from tests.games.deck.decks import TERMS, TOY, conversation, decks


def test_it_deals_what_a_preparation_makes() -> None:
    made = conversation()
    both = simulated_decks(TOY, TERMS, made.initiator_secrets, made.receiver_secrets)
    assert both == decks()
    assert both[0].own_locks != both[1].own_locks
