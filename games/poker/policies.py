"""Ways to play poker games. A policy knows only what its player knows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType

from channelsim.games.betting import aggressive, caller, folder, random
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Amount, Player, Policy
from channelsim.games.poker.best_arrangement import best_arrangement
from channelsim.games.poker.equity import sampled_equity
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.ranking import ACE_TO_FIVE, PAIR, RANKINGS
from channelsim.games.poker.result import money
from channelsim.games.poker.schedule import HOLDEM
from channelsim.games.poker.states import Showdown
from channelsim.games.poker.variants import Variant

STRONG = 0.6
"""With this chance to win, the player that plays by its equity bets."""


def equity(player: Player, chance: Chance) -> Action:
    """Bets with a chance above 60 % to win against a random hand, a sample says; calls if the pot
    pays for it; otherwise checks or folds."""
    choices = player.choices()
    verbs = [choice.verb for choice in choices]
    if not isinstance(player, PokerPlayer) or "fold" not in verbs:
        return _folder(player, chance)
    share = sampled_equity(player.showdown, player.cards, chance)
    for choice in choices:
        if isinstance(choice, Amount) and share > STRONG:
            return Action(choice.verb, _modest(choice, chance))
    if "call" in verbs:
        now = money(player.terms, player.position)
        price = now.put[player.seat.other] - now.put[player.seat]
        return Action("call" if share * (now.pot + price) >= price else "fold")
    return Action(verbs[0])


def _modest(choice: Amount, chance: Chance) -> int:
    """An amount between the least one and three times that."""
    step = choice.step
    most = min(choice.most, 3 * choice.least)
    return step * chance.between(choice.least // step, most // step)


def is_weak(showdown: Showdown, cards: tuple[int, ...]) -> bool:
    """True if these cards of one player are weak in a game with this showdown.

    Where the high hand wins, weak is no pair and nothing above a nine; where the low hand wins, a
    pair or anything above a nine, or a straight or flush that counts; where both win, no pair and
    no low hand.

    >>> deuce_to_seven, high = Showdown(0, 1, 0), Showdown(0, 0, 0)
    >>> seven_low, kings = (20, 12, 9, 5, 2), (44, 45, 9, 5, 2)
    >>> [is_weak(one, cards) for one in (deuce_to_seven, high) for cards in (seven_low, kings)]
    [False, True, True, False]
    """
    # Of hands that are not complete, what is there of the best hand counts.
    count = min(len(cards), OF_OWN if showdown.mask_size == 2 else 5)
    ranking = RANKINGS[showdown.ranking]
    key, _ = ranking.best(combinations(cards, count))
    if showdown.low:
        low, _ = ACE_TO_FIVE.best(combinations(cards, count))
        return key < PAIR << 20 and low >= showdown.low
    return (key >= TEN_HIGH) if ranking.low else (key < TEN_HIGH)


TEN_HIGH = 0x0A0000
"""The least key of a hand with no pair and a ten."""

OF_OWN = 2
"""The private cards that make a hand where exactly two of four do."""


def _is_weak(player: Player) -> bool:
    """True if the own cards, hidden and open, are weak in this game."""
    if not isinstance(player, PokerPlayer) or not player.cards.own:
        return False
    return is_weak(player.showdown, (*player.cards.own, *player.cards.own_up))


_folder = folder(_is_weak)


def greedy(player: Player, chance: Chance) -> Action:
    """Arranges by the points that it wins on average from sampled hands; otherwise stays."""
    choices = player.choices()
    if isinstance(player, PokerPlayer) and any(one.verb == "arrange" for one in choices):
        return Action("arrange", best_arrangement(player.cards.own, chance))
    return caller(player, chance)


def policies_of(variant: Variant) -> Mapping[str, Policy]:
    """The policies of a game by name; the first is the default."""
    found: dict[str, Policy] = {
        "caller": caller,
        "random": random,
        "aggressive": aggressive(_modest),
        "folder": _folder,
    }
    if variant.arranges:
        return MappingProxyType({"greedy": greedy, **found})
    if variant.rounds == HOLDEM:
        found["equity"] = equity
    return MappingProxyType(found)
