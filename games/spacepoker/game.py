"""Space Poker as the engine sees it: all its parts behind the contract."""

from __future__ import annotations

from games.contract import Game
from games.spacepoker import actions
from games.spacepoker.benchmarks import BENCHMARKS
from games.spacepoker.player import ENTROPY_SIZE, new_player
from games.spacepoker.policies import POLICIES
from games.spacepoker.result import PARTS, street
from games.spacepoker.rules import RULES
from games.spacepoker.story import SpacePokerStory
from games.spacepoker.summary import summarize
from games.spacepoker.terms import NAME, default_parameters, initial, read_terms
from games.spacepoker.validators import VALIDATORS

GAME = Game(
    name=NAME,
    title="Space Poker: two hole cards, a shared board, four betting streets, best five of seven",
    validators=VALIDATORS,
    rules=RULES,
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
)
"""The game as the registry finds it."""
