"""The cards that a player of a poker game sees, beside those of its deck.

Both sides' locks are known here, so each position of a deck has one true card. Source:
spec/poker.md, "Hands"; spec/deck.md, "Decks of a channel".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import Acted, Effect, Moved, SawCards, Tell
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.openings import card_behind
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS_UP,
    OTHERS_UP,
    Begin,
    Draw,
    Mid,
    Show,
)


@dataclass(slots=True)
class TrueCards:
    """The finished decks of both sides, by the deck and the side that holds it."""

    decks: dict[tuple[bytes, bool], FinishedDeck] = field(default_factory=dict)
    cards: dict[tuple[bytes, int], int | None] = field(default_factory=dict)

    def learn(self, endpoint: Endpoint | None) -> None:
        """Take the decks of a side, before they are erased."""
        for deck in endpoint.decks.values() if endpoint is not None else ():
            if deck.own_locks:
                self.decks.setdefault((deck.deck, deck.is_initiator), deck)

    def wrong(self, effects: Sequence[Effect]) -> Iterator[str]:
        """Find seats in news with other cards than those of their positions."""
        for effect in effects:
            news = effect.news if isinstance(effect, Tell) else None
            if isinstance(news, Acted | Moved | SawCards) and isinstance(news.player, PokerPlayer):
                for what in self._wrong_of(news.player, is_early=isinstance(news, SawCards)):
                    yield f"its player sees other cards than those of {what} in game {news.game_id}"

    def _wrong_of(self, player: PokerPlayer, *, is_early: bool) -> Iterator[str]:
        """Find the cards that a seat has otherwise; after an early reveal it sees what is owed."""
        state = player.position.state
        if not isinstance(state, Begin | Mid | Draw | Show):
            return
        is_mover = player.position.mover is player.seat
        known = state.known if is_mover else state.known.swapped
        has_button = state.seats.button == is_mover
        own_up, others_up = (BUTTONS_UP, OTHERS_UP) if has_button else (OTHERS_UP, BUTTONS_UP)
        pending = state.pending if not isinstance(state, Mid) and (is_mover or is_early) else ()
        private = [] if is_mover else [owed.position for owed in pending if not owed.scalar]
        cards = player.cards
        opened = {
            who: [owed.position for owed in pending if owed.scalar and owed.who == who]
            for who in (BOARD, own_up, others_up)
        }
        board = len(known.board)
        deck = state.table.deck_id
        if cards.board[:board] != known.board:
            yield "the board"
        for what, sees, positions in (
            ("its hand", cards.own, [*_places(known.movers), *private]),
            ("its open hand", cards.own_up, [*_places(known.movers_up), *opened[own_up]]),
            ("the other hand", cards.others_up, [*_places(known.waiters_up), *opened[others_up]]),
            ("the board", cards.board[board:], opened[BOARD]),
        ):
            if not self._are(sees, deck, positions):
                yield what

    def _are(self, sees: Sequence[int], deck: bytes, positions: Sequence[int]) -> bool:
        """True if these are the cards of the positions, as far as both locks are known."""
        true = [self._card(deck, position) for position in positions]
        if len(sees) != len(true):
            return False
        return all(right in (None, card) for card, right in zip(sees, true, strict=True))

    def _card(self, deck: bytes, position: int) -> int | None:
        """The card at a position; None if the locks of one side are unknown."""
        if (deck, position) not in self.cards:
            ours, theirs = self.decks.get((deck, True)), self.decks.get((deck, False))
            if ours is None or theirs is None:
                return None
            both = ours.own_locks[position] * theirs.own_locks[position] % ours.group.order
            self.cards[deck, position] = card_behind(deck, ours.points[position], both)
        return self.cards[deck, position]


def _places(cards: Iterable[tuple[int, object]]) -> list[int]:
    return [position for position, _ in cards]
