"""California Poker as the engine sees it: what is worth measuring, and all its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from types import MappingProxyType

from channelsim.games.calpoker import actions
from channelsim.games.calpoker.checks import CHECKS
from channelsim.games.calpoker.hands import best_of_eight
from channelsim.games.calpoker.lemmas import DEAL
from channelsim.games.calpoker.pack import PACK
from channelsim.games.calpoker.player import ENTROPY_SIZE, new_player
from channelsim.games.calpoker.policies import POLICIES
from channelsim.games.calpoker.result import summarize
from channelsim.games.calpoker.rules import RULES
from channelsim.games.calpoker.story import PARTS, CaliforniaPokerStory
from channelsim.games.calpoker.terms import NAME, initial, read_terms
from channelsim.games.calpoker.validators import VALIDATORS, hands_shown, showdown
from channelsim.games.chance import Chance
from channelsim.games.contract import Benchmark, Game

# --- benchmarks: finding the best five of eight -------------------------------------------------


HANDS = 20_000
HANDS_OF_OTHERS = 2_000


def _best_of_eight() -> Callable[[], int]:
    chance = Chance(b"best of eight")
    hands = [chance.draw(range(52), 8) for _ in range(HANDS)]

    def work() -> int:
        for hand in hands:
            best_of_eight(hand)
        return HANDS

    work()  # fill the table: the benchmark measures the warm rate
    return work


def _phevaluator_of_subsets() -> Callable[[], int] | None:
    """The eight seven-card subsets of each hand, by an evaluator in C; None without it."""
    try:
        from phevaluator import evaluate_cards
    except ImportError:
        return None
    chance = Chance(b"best of eight")
    hands = [chance.draw(range(52), 8) for _ in range(HANDS_OF_OTHERS)]

    def work() -> int:
        for hand in hands:
            min(evaluate_cards(*seven) for seven in combinations(hand, 7))
        return HANDS_OF_OTHERS

    return work


BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {"best_of_eight": _best_of_eight, "phevaluator_best_of_eight": _phevaluator_of_subsets}
)
"""Benchmarks by name; the second is an evaluator in C for comparison."""


# --- the game -----------------------------------------------------------------------------------


GAME = Game(
    name=NAME,
    title="California Poker: eight open cards each, swap four in secret, best five of eight",
    validators=VALIDATORS,
    rules=RULES,
    total=True,
    terms=read_terms,
    initial=initial,
    player=new_player,
    entropy_size=ENTROPY_SIZE,
    read_action=actions.read,
    policies=POLICIES,
    story=CaliforniaPokerStory(),
    summary=summarize,
    parts=tuple(dict.fromkeys(PARTS.values())),
    part=lambda position: PARTS[position.validator or ""],
    benchmarks=BENCHMARKS,
    showdown=showdown,
    hands_shown=hands_shown,
    pack=PACK,
    lemmas=(DEAL,),
    checks=CHECKS,
)
"""The game as the registry finds it."""
