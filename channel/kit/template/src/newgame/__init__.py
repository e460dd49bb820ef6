"""newgame: Alice and Bob each commit to a number and reveal it; the parity of the sum decides."""

from __future__ import annotations

from pathlib import Path

from channelsim.clsp.compiler import compile_programs
from channelsim.games.contract import Game, Hidden

from newgame.player import legal_salt, player, possible_salt
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
    # What players commit to before the rules see it: what is legal, and what a cheat could hide.
    hidden=(Hidden("salt", legal_salt, possible_salt),),
)
