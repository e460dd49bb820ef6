"""California Poker as the engine sees it: all its parts behind the contract."""

from __future__ import annotations

from games.calpoker import actions
from games.calpoker.benchmarks import BENCHMARKS
from games.calpoker.player import ENTROPY_SIZE, new_player
from games.calpoker.policies import POLICIES
from games.calpoker.rules import RULES
from games.calpoker.story import PARTS, CaliforniaPokerStory
from games.calpoker.summary import summarize
from games.calpoker.terms import NAME, initial, read_terms
from games.calpoker.validators import VALIDATORS
from games.contract import Game

GAME = Game(
    name=NAME,
    title="California Poker: eight open cards each, swap four in secret, best five of eight",
    validators=VALIDATORS,
    rules=RULES,
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
)
"""The game as the registry finds it."""
