"""Sea battle: two players shoot at the ships on each other's hidden board.

Each board has sixteen cells, four of them ships, and hides behind the root of a Merkle tree. Each
player shoots four times, and the other one shows the cell. In the end both show their boards, and
who has hit more ships gets everything.
"""

from __future__ import annotations

from pathlib import Path

from channelsim.clsp.compiler import compile_programs
from channelsim.games.contract import Game, Parameters, Terms, even_terms
from channelsim.games.hidden import Hidden
from seabattle.board import legal, possible
from seabattle.player import initial, player
from seabattle.story import SeaBattleStory
from seabattle.validators import RULES, VALIDATORS


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("seabattle", parameters, "SEABATTLE-TERMS-1")


GAME = Game(
    name="seabattle",
    title="Sea battle: four shots at four hidden ships",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    hidden=(Hidden("board", legal, possible),),
    total=True,
    story=SeaBattleStory(),
)
