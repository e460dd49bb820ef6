"""What a hand needs besides its terms: the secret bytes of both players, and perhaps a deck.

Everything that starts a hand without a channel calls `deal`. A channel has secrets of its own and a
deck that both sides prepared; it uses `shared_deck` and `deck_entropy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from channelsim.games.chance import Chance
from channelsim.games.contract import Game, Seat, SharedDeck, Terms
from channelsim.games.deck.finished import SIMULATED_DEALER, FinishedDeck, simulated_decks
from channelsim.games.deck.group import SCALAR_SIZE, real_group
from channelsim.games.deck.secrets import draw_secrets, encode_scalars
from channelsim.games.deck.stacked import StackedDecks
from channelsim.games.deck.terms import LEAST_ROUNDS, DeckTerms

ENTROPY_SIZE = 64
"""Secret bytes of a player without a deck."""

FRESH_SIZE = 32
"""Secret bytes of a player with a deck, besides its locks."""


def secret_size(game: Game) -> int:
    """The least number of secret bytes of a player: with a deck, those that its hands have."""
    locks = SCALAR_SIZE * game.deck_positions + FRESH_SIZE if game.deck_positions else 0
    return max(game.entropy_size, locks)


def deal(game: Game, terms: Terms, chance: Chance) -> tuple[Terms, tuple[bytes, bytes]]:
    """Draw the secret bytes of Alice and Bob, and fill in the deck of a game that needs one.

    The deck comes from the simulated dealer.
    """
    if not game.deck_positions:
        return terms, (chance.bytes(ENTROPY_SIZE), chance.bytes(ENTROPY_SIZE))
    initiator = Seat(chance.below(2))
    deck_terms = DeckTerms(chance.bytes(32), 1, game.deck_positions, LEAST_ROUNDS)
    secrets = [draw_secrets(real_group(), deck_terms, chance.bytes) for _ in Seat]
    return _dealt(terms, simulated_decks(real_group(), deck_terms, *secrets), initiator, chance)


class StackedDealer:
    """Deals hands of a game with a deck in which each position has the card that it is told.

    Its decks have the same locks, so a hand costs no more than one without a deck, after some
    hands. For simulations only: a deck that both players prepared cannot be stacked.
    """

    def __init__(self, game: Game, chance: Chance) -> None:
        terms = DeckTerms(chance.bytes(32), 1, game.deck_positions, LEAST_ROUNDS)
        secrets = [draw_secrets(real_group(), terms, chance.bytes) for _ in Seat]
        self._decks = StackedDecks(real_group(), terms, *secrets)

    def deal(
        self, terms: Terms, cards: Sequence[int], chance: Chance
    ) -> tuple[Terms, tuple[bytes, bytes]]:
        """Fill in the deck with these cards by position, and draw who is the channel's initiator.

        Returns the terms, and the secret bytes of Alice and Bob. Raises `ValueError` unless the
        cards are different ones, one for each position of the game.
        """
        return _dealt(terms, self._decks.deck(cards), Seat(chance.below(2)), chance)


def _dealt(
    terms: Terms, decks: tuple[FinishedDeck, FinishedDeck], initiator: Seat, chance: Chance
) -> tuple[Terms, tuple[bytes, bytes]]:
    """The terms with a deck, and the secret bytes of Alice and Bob."""
    alices, bobs = decks if initiator is Seat.ALICE else reversed(decks)
    count = len(alices.points)
    return replace(terms, deck=shared_deck(alices, count, initiator)), (
        deck_entropy(alices, count, chance.bytes(FRESH_SIZE)),
        deck_entropy(bobs, count, chance.bytes(FRESH_SIZE)),
    )


def dealer(game: Game) -> str | None:
    """The name of who deals hands without a channel; None for a game without a deck."""
    return SIMULATED_DEALER if game.deck_positions else None


def shared_deck(deck: FinishedDeck, positions: int, initiator: Seat) -> SharedDeck:
    """The first positions of a deck, for a hand in which the channel's initiator sits here."""
    items = list(zip(deck.points, deck.initiator_keys, deck.receiver_keys, strict=True))
    return SharedDeck(deck.deck, tuple(items[:positions]), initiator)


def deck_entropy(deck: FinishedDeck, positions: int, fresh: bytes) -> bytes:
    """The secret bytes of the player that holds this deck: its locks, then fresh bytes."""
    return encode_scalars(deck.own_locks[:positions]) + fresh
