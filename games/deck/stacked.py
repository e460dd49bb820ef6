"""Stacked decks: finished decks whose cards are chosen, for simulations that need rare cards.

All decks of one stack have the same id and the same locks, so that a point is computed once for
each card at each position, and whoever judges openings knows them after a few decks.
"""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.games.amounts import counted
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import Group
from channelsim.games.deck.secrets import DeckSecrets
from channelsim.games.deck.terms import CARDS, DeckTerms, deck_id


class StackedDecks:
    """Makes decks of the same secrets with any cards; its permutations are not used."""

    def __init__(
        self, group: Group, terms: DeckTerms, initiators: DeckSecrets, receivers: DeckSecrets
    ) -> None:
        self._group, self._terms = group, terms
        self._deck = deck_id(terms, receivers.nonce, initiators.nonce)
        self._locks = initiators.locks, receivers.locks
        bases = [(lock, group.base) for locks in self._locks for lock in locks]
        keys = tuple(group.multiply(bases))
        self._keys = keys[: terms.positions], keys[terms.positions :]
        self._points: dict[tuple[int, int], bytes] = {}

    def deck(self, cards: Sequence[int]) -> tuple[FinishedDeck, FinishedDeck]:
        """The deck with these cards at its positions, as the initiator and the receiver hold it.

        Raises `ValueError` unless they are different cards of the pack, one for each position.
        """
        different = len(set(cards)) == len(cards) == self._terms.positions
        if not different or not set(cards) <= set(range(CARDS)):
            needed = counted(self._terms.positions, "different card")
            raise ValueError(f"not {needed}: {tuple(cards)}")
        places = list(enumerate(cards))
        missing = [place for place in places if place not in self._points]
        order = self._group.order
        products = [
            (
                self._locks[0][position] * self._locks[1][position] % order,
                self._group.map(self._deck + bytes((card,))),
            )
            for position, card in missing
        ]
        self._points.update(zip(missing, self._group.multiply(products), strict=True))
        points = tuple(self._points[place] for place in places)
        shared = self._group, self._terms, self._deck, points, *self._keys
        return (
            FinishedDeck(*shared, True, self._locks[0]),
            FinishedDeck(*shared, False, self._locks[1]),
        )
