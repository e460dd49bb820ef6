"""California Poker: one pack, eight open cards each, four of them given away in secret.

Each player picks four of its cards to give to the other, and they swap. The best five of the eight
cards that a player then holds win the stakes. Suits count, but never break a tie.

`rules` states each rule in a sentence, `validators` as code; `player` is the logic of a seat.
"""

from channelsim.games.calpoker.game import GAME

__all__ = ["GAME"]
