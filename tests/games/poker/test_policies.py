"""Policies that look at their cards play what is strong in their game more than what is weak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations

import pytest

from channelsim.games.chance import Chance
from channelsim.games.choices import Amount
from channelsim.games.deck.terms import CARDS
from channelsim.games.poker.games import GAMES
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.ranking import ACE_TO_FIVE, RANKINGS
from channelsim.games.poker.selections import best_claim, is_whole
from channelsim.games.poker.variants import VARIANTS
from tests.games.table import by_policy, sit_down
from tests.sampling import one_row_in

BETTING = [name for name in VARIANTS if not VARIANTS[name].arranges]
EVERY = [(name, policy) for name in BETTING for policy in GAMES[name].policies]

TURNS, SAMPLE, HANDS, TRIES = 3, 60, 6, 24
"""Positions of a game, random hands there, those that are compared, from the weakest to the
strongest, and decisions with each."""

NOISE = TRIES // 3
"""A third of the decisions may differ by chance. A policy that is backwards differs in more."""


def turns(name: str, seed: str) -> Iterator[PokerPlayer]:
    """Players that may fold, early and late in a hand."""
    game = GAMES[name]
    decide = [by_policy("caller", "", game), by_policy("random", seed, game)]
    hand = sit_down(f"{name} {seed}", 100, 40, game).play(*decide).hand
    for step in hand.steps:
        player = step.players_before[step.seat]
        verbs = [choice.verb for choice in player.choices()]
        if isinstance(player, PokerPlayer) and "fold" in verbs and player.cards.own:
            yield player


def with_other_cards(player: PokerPlayer, chance: Chance) -> PokerPlayer:
    """The player with other hidden cards."""
    cards = player.cards
    rest = [
        one for one in range(CARDS) if one not in {*cards.own_up, *cards.others_up, *cards.board}
    ]
    own = tuple(rest.pop(chance.below(len(rest))) for _ in cards.own)
    return replace(player, cards=replace(cards, own=own))


def keys(player: PokerPlayer) -> list[int]:
    """The keys of the own cards, and of the whole hand if there is one: more is better."""
    showdown, cards = player.showdown, player.cards
    own = (*cards.own, *cards.own_up)
    size = min(len(own), 2 if showdown.mask_size == 2 else 5)
    order = RANKINGS[showdown.ranking]
    sign = -1 if order.low else 1
    found = [sign * order.best(combinations(own, size))[0]]
    if showdown.low:
        found.append(-ACE_TO_FIVE.best(combinations(own, size))[0])
    if is_whole(showdown, own, cards.board):
        claim = best_claim(showdown, (*own, *cards.board))
        found += [sign * claim.high, -claim.low]
    return found


def counts(player: PokerPlayer, policy: str) -> tuple[int, int]:
    """How often a policy folds, and how often it bets or raises."""
    play = GAMES[player.terms.game].policies[policy]
    verbs = [play(player, Chance(b"%d" % number)).verb for number in range(TRIES)]
    bets = {choice.verb for choice in player.choices() if isinstance(choice, Amount)}
    return verbs.count("fold"), sum(verb in bets for verb in verbs)


@pytest.mark.parametrize(
    ("name", "policy"),
    one_row_in(9, EVERY),
)
def test_a_stronger_hand_folds_no_more_and_bets_no_less(name: str, policy: str) -> None:
    chance = Chance(f"{name} {policy}".encode())
    found = [*turns(name, "one"), *turns(name, "two")]
    assert found
    compared = 0
    for at in range(TURNS):
        player = found[at * (len(found) - 1) // (TURNS - 1)]
        hands = sorted((with_other_cards(player, chance) for _ in range(SAMPLE)), key=keys)
        hands = hands[:: SAMPLE // HANDS] + hands[-1:]
        rated = [(keys(hand), counts(hand, policy)) for hand in hands]
        for (better, much), (worse, little) in permutations(rated, 2):
            if better == worse or any(a < b for a, b in zip(better, worse, strict=True)):
                continue
            compared += 1
            assert much[0] <= little[0] + NOISE, (player.position.validator, better, worse)
            assert much[1] >= little[1] - NOISE, (player.position.validator, better, worse)
    assert compared


@pytest.mark.parametrize("name", BETTING)
def test_the_folder_folds_weak_hands_most_in_every_game(name: str) -> None:
    """It looks at its cards: there are hands that it folds often, and others that it keeps."""
    chance = Chance(name.encode())
    players = list(turns(name, "folds"))
    folds = {NOISE}
    for player in players * 10 * HANDS:
        folds.add(counts(with_other_cards(player, chance), "folder")[0])
        if min(folds) < NOISE / 2 < NOISE < max(folds):
            break
    assert min(folds) < NOISE / 2 < NOISE < max(folds)
