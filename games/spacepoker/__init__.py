"""Space Poker: two players, one board, ranks only (2 to 14), drawn with repeats.

Two hole cards each, five community cards, four betting streets, the best five of seven win;
each player has a boost, + or −, that decides within a class of hands.

Read `rules` for what is legal in a sentence each, `validators` for the same as code,
`player` for how a seat plays it.
"""

from games.spacepoker.game import GAME

__all__ = ["GAME"]
