"""Hands played with a stacked deck: the cards are chosen, the rest is as in other hands."""

from __future__ import annotations

from itertools import islice

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import LONGEST, drawn_terms, near_a_limit
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.games.chance import Chance
from channelsim.games.choices import least_action
from channelsim.games.contract import Action, Amount, Player
from channelsim.games.dealing import StackedDealer
from channelsim.games.pack import Cards
from channelsim.games.selfplay import turns_of


class StackedHands:
    """Hands of a target whose game has a prepared deck, on terms like those of other hands."""

    def __init__(self, target: Target, chance: FastChance) -> None:
        self._target = target
        self._chance = Chance(chance.bytes(16))
        self._dealer = StackedDealer(target.game, self._chance)

    def places(self, cards: Cards) -> list[Site]:
        """The places of one hand with these cards by position, in order."""
        target, chance = self._target, self._chance
        terms, _ = drawn_terms(target, chance)
        terms, entropy = self._dealer.deal(terms, cards, chance)
        policies = (stays, stays)
        turns = turns_of(target.game, target.hashes, terms, entropy, policies, chance)
        return [site_of(target, turn) for turn in islice(turns, LONGEST)]


def stays(player: Player, chance: Chance) -> Action:
    """Stay until all cards are compared, as dealt: never give up, and keep what can be exchanged.

    That is never the last of several choices, and of several numbers the lowest. Amounts come half
    of the time.
    """
    choices = player.choices()
    choices = choices[:-1] if len(choices) > 1 else choices
    quiet = [choice for choice in choices if not isinstance(choice, Amount)]
    choice = chance.pick(quiet if quiet and chance.below(2) else choices)
    if isinstance(choice, Amount):
        return near_a_limit(choice, chance)
    return least_action(choice)
