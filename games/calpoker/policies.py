"""Ways to play California Poker, and the odds of discards by which one of them plays.

The odds of each choice are against an opponent that picks any four alike. There are 70 answers to
each of 70 choices, so the odds are counted, not sampled: they are exact. A policy knows only what
its player knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, Cards, given, remaining
from channelsim.games.calpoker.hands import (
    FIVE_OF_EIGHT,
    best_of_eight,
    value_of_selection,
)
from channelsim.games.calpoker.player import DISCARD, CalPokerPlayer
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Player, Policy, Seat
from channelsim.games.counting import HandValue, groups, rank_of

# --- odds ---------------------------------------------------------------------------------------


ANSWERS = len(FOUR_OF_EIGHT)
"""The number of answers that the other player has."""

_MASKS = sorted(FOUR_OF_EIGHT)


class DiscardOdds(msgspec.Struct, frozen=True, gc=False):
    """The number of answers that a choice wins against, and that it ties with."""

    wins: int
    ties: int

    def text(self) -> str:
        """The odds in a phrase, with their error.

        >>> DiscardOdds(52, 1).text()
        'wins 74.3 %, ties 1.4 % (52 and 1 of 70 answers, error 0)'
        """
        wins, ties = (100 * count / ANSWERS for count in (self.wins, self.ties))
        counted = f"{self.wins} and {self.ties} of {ANSWERS} answers, error 0"
        return f"wins {wins:.1f} %, ties {ties:.1f} % ({counted})"


@lru_cache(maxsize=16)
def discard_odds(own: Cards, others: Cards) -> dict[int, DiscardOdds]:
    """The odds of each of the 70 masks that give four of `own` away against `others`.

    >>> best = discard_odds((0, 1, 2, 3, 4, 5, 6, 7), (8, 9, 10, 11, 12, 13, 14, 15))[0xF0]
    >>> best.wins, best.ties
    (1, 0)
    """
    mine_kept = [remaining(own, mask) for mask in _MASKS]
    mine_given = [given(own, mask) for mask in _MASKS]
    yours = [(remaining(others, mask), given(others, mask)) for mask in _MASKS]
    odds = {}
    for mask, keeping, giving in zip(_MASKS, mine_kept, mine_given, strict=True):
        wins = ties = 0
        for their_kept, their_given in yours:
            ours, theirs = best_of_eight(keeping + their_given), best_of_eight(their_kept + giving)
            if ours > theirs:
                wins += 1
            elif ours == theirs:
                ties += 1
        odds[mask] = DiscardOdds(wins, ties)
    return odds


def best_response(own: Cards, others: Cards) -> int:
    """The mask that wins most often, among equals the one that ties most often, then the lowest."""
    known = discard_odds(own, others)
    return max(_MASKS, key=lambda mask: (known[mask].wins, known[mask].ties, -mask))


# --- policies -----------------------------------------------------------------------------------


def random(player: Player, chance: Chance) -> Action:
    """Any four cards; never folds."""
    return _discard(player, lambda own, others: chance.pick(DISCARD.options))


def greedy(player: Player, chance: Chance) -> Action:
    """Keeps four of its best five, whatever the opponent holds; never folds."""
    return _discard(player, lambda own, others: keep_the_best(own))


def responder(player: Player, chance: Chance) -> Action:
    """Gives away what wins most often against an opponent that picks any four alike."""
    return _discard(player, best_response)


def keep_the_best(own: Cards) -> int:
    """The mask that keeps, of the best five cards, the four that are worth most by themselves.

    >>> bin(keep_the_best((0, 1, 6, 10, 15, 44, 45, 51)))
    '0b1100011'
    """
    best = best_of_eight(own)
    fives = [five for five in FIVE_OF_EIGHT if value_of_selection(own, five) == best]
    masks = [
        mask
        for mask in sorted(FOUR_OF_EIGHT)
        if any(
            (mask | five) == 0xFF for five in fives
        )  # every card that it keeps is one of the five
    ]
    return max(masks, key=lambda mask: (_worth(remaining(own, mask)), -mask))


def _worth(cards: Cards) -> tuple[HandValue, HandValue]:
    return groups([rank_of(card) for card in cards])


def _discard(player: Player, pick: Callable[[Cards, Cards], int]) -> Action:
    """The discards that `pick` returns for both hands, or the forced choice."""
    verb = player.choices()[0].verb
    hands = player.cards.hands if isinstance(player, CalPokerPlayer) else None
    if verb != DISCARD.verb or hands is None:
        return Action(verb)
    alice, bob = hands
    mask = pick(alice, bob) if player.seat is Seat.ALICE else pick(bob, alice)
    return Action(verb, mask)


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {"random": random, "greedy": greedy, "best-response": responder}
)
"""The policies by name."""
