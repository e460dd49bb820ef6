"""Ways to play California Poker. A policy knows only what its player knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, Cards, remaining
from channelsim.games.calpoker.discard_odds import best_response
from channelsim.games.calpoker.hands import (
    FIVE_OF_EIGHT,
    best_of_eight,
    value_of_selection,
)
from channelsim.games.calpoker.player import DISCARD, CalPokerPlayer
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Player, Policy, Seat
from channelsim.games.counting import HandValue, groups, rank_of


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
