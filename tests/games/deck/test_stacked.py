"""Stacked decks have exactly the cards that they are told, behind honest locks."""

from __future__ import annotations

import pytest

from channelsim.games.deck.stacked import StackedDecks
from tests.games.deck.decks import TERMS, TOY, conversation, decks

COUNT = TERMS.positions


def stack() -> StackedDecks:
    secrets = conversation()
    return StackedDecks(TOY, TERMS, secrets.initiator_secrets, secrets.receiver_secrets)


@pytest.mark.parametrize("first", [0, 7, 52 - COUNT])
def test_each_side_opens_the_card_that_was_asked_for(first: int) -> None:
    cards = tuple(range(first, first + COUNT))[::-1]
    initiators, receivers = stack().deck(cards)
    for position, card in enumerate(cards):
        assert initiators.card(position, receivers.opening(position)) == card
        assert receivers.card(position, initiators.opening(position)) == card
    assert initiators.root(COUNT) == receivers.root(COUNT)


def test_a_stack_with_the_same_cards_is_the_deck_that_a_preparation_makes() -> None:
    shuffled = decks()
    cards = [shuffled[0].card(at, shuffled[1].opening(at)) for at in range(COUNT)]
    assert stack().deck(cards) == shuffled


def test_all_decks_of_a_stack_have_the_same_locks() -> None:
    decks_of = stack()
    one, other = decks_of.deck(range(COUNT))[0], decks_of.deck(range(1, COUNT + 1))[0]
    assert (one.deck, one.own_locks) == (other.deck, other.own_locks)
    assert one.initiator_keys == other.initiator_keys
    assert not set(one.points) & set(other.points)


@pytest.mark.parametrize(
    "cards",
    [
        tuple(range(COUNT - 1)),
        tuple(range(COUNT + 1)),
        (0,) * COUNT,
        (52, *range(COUNT - 1)),
        (-1, *range(COUNT - 1)),
    ],
)
def test_what_is_no_deal_is_refused(cards: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="different cards"):
        stack().deck(cards)
