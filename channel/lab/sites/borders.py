"""Borders: places at which a player may not do any more what was allowed before.

That is the state after the last of all raises, with a stake used up, or on the last round. Programs
that count one too far are wrong nowhere else, and players who choose among all that is allowed
hardly ever come there. Here both do one thing until it is refused, then another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import TypeAlias

from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import (
    LONGEST,
    MOST_STACK,
    Dealer,
    any_terms,
    near_a_limit,
)
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.targets.target import Target
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Amount, OneOf, Play, Player, Policy, Terms
from channelsim.games.selfplay import PlayedMove, turns_of

DEEP_STACK = 80
"""The most units of a stack in half of the hands: one that lasts longer than other limits."""

PATIENCE = 40
"""Hands without a border, after which no more are played if there was none at all."""

A_HAND = 600
"""The work of playing a hand."""

REFUSED = 4
"""The most moves that were allowed before, of those that are tried at a border."""


OFTEN = 6
"""Borders differ by how often was done what is refused there, up to so many times."""

Border: TypeAlias = tuple[str, frozenset[str], frozenset[str], int]
"""A validator, what is refused there that was allowed before, what is allowed, and how often was
done what is refused."""


class Borders:
    """Hands of stubborn players, and the borders that they came to, each with the times."""

    def __init__(self, target: Target, secret: bytes) -> None:
        self._target = target
        self._chance = Chance(secret)
        self._dealer = Dealer(target, self._chance)
        self._tried: Counter[Border] = Counter()
        self._barren = 0
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True if hands can be played, unless many have shown that there are no borders."""
        return self._target.rules is not None and (bool(self._tried) or self._barren < PATIENCE)

    def calls(self) -> Iterator[tuple[Site, Sequence[Call]]]:
        """The border of one hand, with its calls; nothing if the hand came to none."""
        self.work += A_HAND
        if (border := self._place()) is not None:
            yield border
        else:
            self._barren += 1

    def _place(self) -> tuple[Site, tuple[Call, ...]] | None:
        """Of one hand the border that was tried least, with the moves that are refused there.

        None if the hand came to no border.
        """
        chance = self._chance
        most = DEEP_STACK if chance.chance(50) else MOST_STACK
        terms = any_terms(self._target, chance, most)
        verbs: list[str] = []
        borders = []
        offered: defaultdict[str, set[str]] = defaultdict(set)
        made: defaultdict[tuple[str, str], list[Play]] = defaultdict(list)
        for turn in islice(self._turns(terms, _noting(stubborn(chance), verbs)), LONGEST):
            name = turn.before.validator or ""
            now = frozenset(choice.verb for choice in turn.player.choices())
            refused = frozenset(offered[name] - now)
            plays = [play for verb in sorted(refused) for play in made[name, verb]]
            if plays and name in self._target.present:
                border = name, refused, now, min(len(plays), OFTEN)
                latest = {play.move: play for play in plays}
                borders.append((border, turn, list(latest.values())[-REFUSED:]))
            offered[name] |= now
            made[name, verbs[-1]].append(turn.play)
        if not borders:
            return None
        border, turn, plays = min(borders, key=lambda some: self._tried[some[0]])
        self._tried[border] += 1
        site = site_of(self._target, turn)
        return site, tuple(_calls(site, plays))

    def _turns(self, terms: Terms, policy: Policy) -> Iterator[PlayedMove]:
        target, chance = self._target, self._chance
        terms, entropy = self._dealer.deal(terms)
        return turns_of(target.game, target.hashes, terms, entropy, (policy, policy), chance)


def _calls(site: Site, plays: list[Play]) -> Iterator[Call]:
    """Moves that were allowed before, with the share that is right now and with their own."""
    evidence = site.held[-1]
    for play in plays:
        for share in dict.fromkeys((site.play.share, play.share)):
            yield play.move, share, evidence


def stubborn(chance: Chance) -> Policy:
    """A policy for both players of one hand: do one thing until it is refused, then another.

    Numbers are always the least, always the most, or near either.
    """
    seed, how = chance.bytes(16), chance.below(3)

    def policy(player: Player, chance: Chance) -> Action:
        choices = player.choices()
        # Nearly always without the last one, which gives up where a game offers that.
        choices = choices[:-1] if len(choices) > 1 and not chance.chance(2) else choices
        choice = min(choices, key=lambda choice: sha256(seed + choice.verb.encode()).digest())
        match choice:
            case Amount(verb=verb, least=least, most=most) if how < 2:
                return Action(verb, most if how else least)
            case OneOf(verb=verb, options=(least, *_, most)) if how < 2:
                return Action(verb, most if how else least)
        return near_a_limit(choice, chance)

    return policy


def _noting(policy: Policy, verbs: list[str]) -> Policy:
    """The policy, with the verbs of its actions noted."""

    def noting(player: Player, chance: Chance) -> Action:
        action = policy(player, chance)
        verbs.append(action.verb)
        return action

    return noting
