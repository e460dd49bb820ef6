"""newgame: Alice and Bob each commit to a number and reveal it; the parity of the sum decides."""

from __future__ import annotations

from pathlib import Path

from channelsim.clsp.compiler import compile_programs
from channelsim.games.contract import Game

from newgame.player import player
from newgame.rules import RULES, VALIDATORS, initial, terms

GAME = Game(
    name="newgame",
    title="newgame: an even sum wins for Alice, an odd one for Bob",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=16,
)
