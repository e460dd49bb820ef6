"""Space Poker: two players, one board, ranks only (2 to 14), drawn with repeats.

Each player has two hole cards and a boost, + or −, which decides within a class of hands. There are
five community cards and four betting streets; the best five of seven win.

`rules` states each rule in a sentence, `validators` as code; `player` is the logic of a seat.
"""

from channelsim.games.spacepoker.game import GAME

__all__ = ["GAME"]
