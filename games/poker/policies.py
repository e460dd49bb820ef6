"""Ways to play poker games. A policy knows only what its player knows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from channelsim.games.betting_policies import aggressive, caller, folder, random
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Amount, Player, Policy
from channelsim.games.poker.best_arrangement import best_arrangement
from channelsim.games.poker.equity import sampled_equity
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.result import money
from channelsim.games.poker.schedule import HOLDEM
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


def _is_weak(player: Player) -> bool:
    """Two hidden cards without a pair and without anything above a nine."""
    own = player.cards.own if isinstance(player, PokerPlayer) else ()
    ranks = {card // 4 + 2 for card in own}
    return bool(own) and len(ranks) == len(own) and max(ranks) < 10


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
