"""Hands, played to find sites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from types import MappingProxyType

from channelsim.channel.lab.targets.target import Target
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    Action,
    Amount,
    Choice,
    OneOf,
    Parameters,
    Player,
    Policy,
    Terms,
)
from channelsim.games.dealing import StackedDealer, deal
from channelsim.games.deck.terms import CARDS
from channelsim.games.errors import BadTerms
from channelsim.games.selfplay import PlayedMove, turns

UNITS = (1, 1, 2, 7, 100, 100, 100, 1000, 10**9, 2**33, 10**12, 2**57)
"""Units of generated hands, in mojos: amounts of every length."""

MOST_STACK = 20

PLAIN_UNIT, PLAIN_STACK = 100, 10
"""The unit and stack of a hand that is easy to read."""


NO_CHANGES: Parameters = MappingProxyType({})

LONGEST = 300
"""The most moves of a generated hand."""


def hands(target: Target, seed: bytes) -> Iterator[tuple[PlayedMove, ...]]:
    """Hands without end, each on its own terms; the same for the same seed."""
    chance = Chance(seed)
    while True:
        terms, pair = drawn_terms(target, chance)
        yield tuple(islice(turns(target.game, target.hashes, terms, pair, chance), LONGEST))


def drawn_terms(target: Target, chance: Chance) -> tuple[Terms, tuple[Policy, Policy]]:
    """The terms of one hand, and how its players choose.

    That is by the first policies of the game, which are the plain ones, by `random`, or by going to
    the limits.
    """
    named = target.game.policies
    quick = dict(list(named.items())[:2])
    if "random" in named:
        quick["random"] = named["random"]
    policies = (*quick.values(), to_the_limits)
    terms = any_terms(target, chance)
    return terms, (chance.pick(policies), chance.pick(policies))


def any_terms(target: Target, chance: Chance, most: int = MOST_STACK) -> Terms:
    """Terms with a stack of at most so many units, half of the time with a variation."""
    variations = target.game.variations
    unit, stack = chance.pick(UNITS), chance.between(1, most)
    changed = bool(variations) and not chance.chance(50)
    return terms_of(target, unit, stack, chance.pick(variations) if changed else NO_CHANGES)


def plain_hands(target: Target, seed: bytes) -> Iterator[PlayedMove]:
    """Hands on plain terms by plain policies: used to show findings."""
    game, chance = target.game, Chance(seed)
    policies = list(game.policies.values())[:2]
    while True:
        pair = (chance.pick(policies), chance.pick(policies))
        yield from turns(game, target.hashes, plain_terms(target), pair, chance)


def terms_of(target: Target, unit: int, stack: int, changes: Parameters = NO_CHANGES) -> Terms:
    """The default terms for this unit and stack with some changes; plain terms where the game
    refuses them."""
    game = target.game
    try:
        return game.terms({**game.default_parameters(unit, stack), **changes})
    except BadTerms:
        return plain_terms(target, changes)


def plain_terms(target: Target, changes: Parameters = NO_CHANGES) -> Terms:
    """Terms with small round amounts."""
    game = target.game
    return game.terms({**game.default_parameters(PLAIN_UNIT, PLAIN_STACK), **changes})


class Dealer:
    """Deals the hands of a target's game; a prepared deck is a stacked one, which costs less."""

    def __init__(self, target: Target, chance: Chance) -> None:
        self._target, self._chance = target, chance
        self._stacked: StackedDealer | None = None

    def deal(self, terms: Terms) -> tuple[Terms, tuple[bytes, bytes]]:
        """The terms with a deck if the game has one, and the secret bytes of Alice and Bob."""
        game, chance = self._target.game, self._chance
        if not game.deck_positions:
            return deal(game, terms, chance)
        self._stacked = self._stacked or StackedDealer(game, chance)
        cards = chance.draw(range(CARDS), game.deck_positions)
        return self._stacked.deal(terms, cards, chance)


def to_the_limits(player: Player, chance: Chance) -> Action:
    """Choose any verb, with its least or most number, one next to these, or their middle.

    The last of several choices, which gives up where a game offers that, is taken rarely.
    """
    choices = player.choices()
    if len(choices) > 1 and not chance.chance(5):
        choices = choices[:-1]
    return near_a_limit(chance.pick(choices), chance)


def near_a_limit(choice: Choice, chance: Chance) -> Action:
    """The least or the most number of a choice, one next to these, or their middle; so two players
    often choose the same one."""
    match choice:
        case Amount(verb=verb, least=least, most=most, step=step):
            numbers: Sequence[int] = range(least, most + 1, step)
        case OneOf(verb=verb, options=numbers):
            pass
        case _:
            return Action(choice.verb)
    last = len(numbers) - 1
    near = {0, last, min(1, last), max(last - 1, 0), last // 2}
    return Action(verb, numbers[chance.pick(sorted(near))])
