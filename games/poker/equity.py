"""The chance to win against a random hand, by a sample of what is still unknown."""

from __future__ import annotations

from channelsim.games.chance import Chance
from channelsim.games.deck.terms import CARDS
from channelsim.games.poker.known_cards import KnownCards
from channelsim.games.poker.ranking import RANKINGS
from channelsim.games.poker.selections import best_selection
from channelsim.games.poker.states import Showdown

SAMPLES = 40
BOARD = 5


def sampled_equity(
    showdown: Showdown, cards: KnownCards, chance: Chance, samples: int = SAMPLES
) -> float:
    """The part of the pot that a player wins on average against two random cards, from 0 to 1.

    >>> aces = KnownCards(own=(51, 50))
    >>> 0.7 < sampled_equity(Showdown(1, 0, 0), aces, Chance(b"aces"), 100) < 1
    True
    """
    known = {*cards.own, *cards.board}
    rest = [card for card in range(CARDS) if card not in known]
    missing = BOARD - len(cards.board)
    won = 0
    for _ in range(samples):
        drawn = chance.draw(rest, len(cards.own) + missing)
        board = (*cards.board, *drawn[:missing])
        mine = best_selection(showdown, (*cards.own, *board))
        theirs = best_selection(showdown, (*drawn[missing:], *board))
        won += 1 + RANKINGS[showdown.ranking].better(mine.key, theirs.key)
    return won / (2 * samples)
