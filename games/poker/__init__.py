"""Heads-up poker with a prepared deck: rankings of hands, betting, and how pots are divided.

A game is data (`variants`) and a ranking; nothing here knows a channel or a deck. It
imports the modules of `games` that know no game. Cards are numbers: `4 * (rank - 2) + suit`, the
rank from 2 to 14 (the ace), the suit in the order clubs, diamonds, hearts, spades (GEN-2).
"""
