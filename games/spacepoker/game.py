"""Space Poker as the engine sees it: ways to play, what is worth measuring, and all parts.

A policy knows only what its player knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from channelsim.games.betting import aggressive, caller, folder, random
from channelsim.games.chance import Chance
from channelsim.games.contract import Amount, Benchmark, Game, Player, Policy
from channelsim.games.counting import RANKS
from channelsim.games.spacepoker import actions
from channelsim.games.spacepoker.checks import CHECKS
from channelsim.games.spacepoker.hands import best_of_seven
from channelsim.games.spacepoker.player import ENTROPY_SIZE, SpacePokerPlayer, new_player
from channelsim.games.spacepoker.result import PARTS, street, summarize
from channelsim.games.spacepoker.rules import RULES
from channelsim.games.spacepoker.story import SpacePokerStory
from channelsim.games.spacepoker.terms import NAME, default_parameters, initial, read_terms
from channelsim.games.spacepoker.validators import PACK, VALIDATORS, hands_shown, showdown

# --- ways to play -------------------------------------------------------------------------------


def _units(choice: Amount, chance: Chance) -> int:
    """Whole units, as people bet, unless less than one is left."""
    return min(choice.most, choice.unit * chance.between(1, max(1, choice.most // choice.unit)))


def _is_weak(player: Player) -> bool:
    """No boost, no pair, nothing above a nine in the hole."""
    own = player.cards.own if isinstance(player, SpacePokerPlayer) else None
    return own is not None and not own.boost and len(set(own.hole)) == 2 and max(own.hole) < 10


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        "caller": caller,
        "random": random,
        "aggressive": aggressive(_units),
        "folder": folder(_is_weak),
    }
)
"""The policies by name."""


# --- benchmarks: finding the best five of seven -------------------------------------------------


HANDS = 20_000


def _best_of_seven() -> Callable[[], int]:
    chance = Chance(b"best of seven")
    hands = [tuple(chance.pick(RANKS) for _ in range(7)) for _ in range(HANDS)]

    def work() -> int:
        for hand in hands:
            best_of_seven(hand, 0)
        return HANDS

    work()  # fill the table: the benchmark measures the warm rate
    return work


def _phevaluator_of_seven() -> Callable[[], int] | None:
    try:
        from phevaluator import evaluate_cards
    except ImportError:
        return None
    chance = Chance(b"seven cards of one pack")
    hands = [chance.draw(range(52), 7) for _ in range(HANDS)]

    def work() -> int:
        for hand in hands:
            evaluate_cards(*hand)
        return HANDS

    return work


BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {"best_of_seven": _best_of_seven, "phevaluator_best_of_seven": _phevaluator_of_seven}
)
"""Benchmarks by name; the second is an evaluator in C on ordinary hands, for comparison."""


# --- the game -----------------------------------------------------------------------------------


GAME = Game(
    name=NAME,
    title="Space Poker: two hole cards, a shared board, four betting streets, best five of seven",
    validators=VALIDATORS,
    rules=RULES,
    total=True,
    terms=read_terms,
    initial=initial,
    player=new_player,
    entropy_size=ENTROPY_SIZE,
    default_parameters=default_parameters,
    read_action=actions.read,
    policies=POLICIES,
    story=SpacePokerStory(),
    summary=summarize,
    parts=PARTS,
    part=street,
    benchmarks=BENCHMARKS,
    showdown=showdown,
    hands_shown=hands_shown,
    pack=PACK,
    checks=CHECKS,
)
"""The game as the registry finds it."""
