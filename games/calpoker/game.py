"""California Poker as the engine sees it: all its parts behind the contract."""

from __future__ import annotations

from channelsim.games.calpoker import actions
from channelsim.games.calpoker.benchmarks import BENCHMARKS
from channelsim.games.calpoker.player import ENTROPY_SIZE, new_player
from channelsim.games.calpoker.policies import POLICIES
from channelsim.games.calpoker.rules import RULES
from channelsim.games.calpoker.story import PARTS, CaliforniaPokerStory
from channelsim.games.calpoker.summary import summarize
from channelsim.games.calpoker.terms import NAME, initial, read_terms
from channelsim.games.calpoker.validators import VALIDATORS, showdown
from channelsim.games.contract import Game

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
)
"""The game as the registry finds it."""
