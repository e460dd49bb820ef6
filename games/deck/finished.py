"""A finished deck, as one side holds it: 52 hidden cards, of which some positions can be opened.

The point at a position is `k·l·M[v]`, with a lock k of the initiator and l of the receiver. An
opening is one lock's scalar; a player knows a card when the other side has opened its lock.

The simulated dealer makes a finished deck for both sides at once, for simulations only: what a
preparation with the same secrets makes, without the messages and proofs. Whoever deals like this
knows every card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import SCALAR_SIZE, Group
from channelsim.games.deck.secrets import DeckSecrets, encode_scalars
from channelsim.games.deck.terms import CARDS, DeckTerms, card_points, deck_id, tagged_hash

# --- finished decks -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FinishedDeck:
    """A deck that both sides made.

    `points` are the locked cards by position, `initiator_keys` and `receiver_keys` what the locks
    open; `own_locks` are this side's scalars, and `is_initiator` says which side it is.
    """

    group: Group
    terms: DeckTerms
    deck: bytes
    points: tuple[bytes, ...]
    initiator_keys: tuple[bytes, ...]
    receiver_keys: tuple[bytes, ...]
    is_initiator: bool
    own_locks: tuple[int, ...] = field(repr=False)

    def root(self, positions: int) -> bytes:
        """The hash of the deck's first positions, which both sides of a game compare."""
        if not 0 < positions <= self.terms.positions:
            raise DeckFault("PD-9", f"{positions} of {self.terms.positions} positions")
        items = zip(self.points, self.initiator_keys, self.receiver_keys, strict=True)
        return tagged_hash("root", self.deck, *(b"".join(item) for item in list(items)[:positions]))

    def opening(self, position: int) -> bytes:
        """Open this side's lock: 32 bytes that the other side may have."""
        return encode_scalars([self.own_locks[position]])

    def read_opening(self, position: int, opening: bytes, of_initiator: bool) -> int:
        """The scalar of a lock's opening. Raises `DeckFault`."""
        keys = self.initiator_keys if of_initiator else self.receiver_keys
        return read_opening(self.group, keys[position], opening)

    def card(self, position: int, opening: bytes) -> int:
        """The card at a position, once the other side has opened its lock. Raises `DeckFault`."""
        other = self.read_opening(position, opening, of_initiator=not self.is_initiator)
        order = self.group.order
        both = pow(other * self.own_locks[position], -1, order)
        (point,) = self.group.multiply([(both, self.points[position])])
        cards = card_points(self.group, self.deck)
        if point not in cards:
            raise DeckFault("PD-14", f"position {position} holds none of the 52 cards")
        return cards.index(point)


def read_opening(group: Group, key: bytes, opening: bytes) -> int:
    """The scalar that opens the lock of a key. Raises `DeckFault` (PD-13)."""
    scalar = int.from_bytes(opening, "big")
    if len(opening) != SCALAR_SIZE or not 0 < scalar < group.order:
        raise DeckFault("PD-13", "the opening is not a scalar in its range")
    if group.multiply([(scalar, group.base)]) != [key]:
        raise DeckFault("PD-13", "the opening is not that of this lock")
    return scalar


def check_card(group: Group, deck: bytes, point: bytes, scalars: Sequence[int], card: int) -> None:
    """Check that a card is the one behind two opened locks. Raises `DeckFault` (PD-14)."""
    if not 0 <= card < CARDS:
        raise DeckFault("PD-14", f"there is no card {card}")
    both = 1
    for scalar in scalars:
        both = both * scalar % group.order
    if group.multiply([(both, group.map(deck + bytes((card,))))]) != [point]:
        raise DeckFault("PD-14", f"card {card} is not at this position")


# --- the simulated dealer -----------------------------------------------------------------------


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
