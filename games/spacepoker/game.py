"""Space Poker as the engine sees it: all its parts behind the contract."""

from __future__ import annotations

from channelsim.games.contract import Game
from channelsim.games.spacepoker import actions
from channelsim.games.spacepoker.benchmarks import BENCHMARKS
from channelsim.games.spacepoker.player import ENTROPY_SIZE, new_player
from channelsim.games.spacepoker.policies import POLICIES
from channelsim.games.spacepoker.result import PARTS, street
from channelsim.games.spacepoker.rules import RULES
from channelsim.games.spacepoker.story import SpacePokerStory
from channelsim.games.spacepoker.summary import summarize
from channelsim.games.spacepoker.terms import NAME, default_parameters, initial, read_terms
from channelsim.games.spacepoker.validators import VALIDATORS, showdown

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
)
"""The game as the registry finds it."""
