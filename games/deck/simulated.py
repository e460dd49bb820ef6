"""The simulated dealer: a finished deck for both sides at once, for simulations only.

It makes what a preparation with the same secrets makes, without the messages and proofs. Whoever
deals like this knows every card.
"""

from __future__ import annotations

from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import Group
from channelsim.games.deck.secrets import DeckSecrets
from channelsim.games.deck.terms import DeckTerms, deck_id

SIMULATED_DEALER = "simulated dealer"
"""How an output names it."""


def simulated_decks(
    group: Group, terms: DeckTerms, initiators: DeckSecrets, receivers: DeckSecrets
) -> tuple[FinishedDeck, FinishedDeck]:
    """Make a deck from the secrets of both sides; return it as the initiator and the receiver
    hold it."""
    deck = deck_id(terms, receivers.nonce, initiators.nonce)
    products = []
    for position, locks in enumerate(zip(initiators.locks, receivers.locks, strict=True)):
        card = initiators.permutation[receivers.permutation[position]]
        both = locks[0] * locks[1] % group.order
        products.append((both, group.map(deck + bytes((card,)))))
    products += [(lock, group.base) for lock in initiators.locks + receivers.locks]
    results = tuple(group.multiply(products))
    count = terms.positions
    shared = results[:count], results[count : 2 * count], results[2 * count :]
    return (
        FinishedDeck(group, terms, deck, *shared, True, initiators.locks),
        FinishedDeck(group, terms, deck, *shared, False, receivers.locks),
    )
