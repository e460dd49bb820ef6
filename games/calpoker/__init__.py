"""California Poker: one pack, eight open cards each, four of them given away in secret.

Each player picks four of its cards to give to the other; they swap, and the best five of the
eight that each then holds win the stakes. Suits count, and never break a tie.

Read `rules` for what is legal in a sentence each, `validators` for the same as code,
`player` for how a seat plays it.
"""

from games.calpoker.game import GAME

__all__ = ["GAME"]
