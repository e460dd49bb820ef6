"""Rules of the games: pure, with no I/O, no clock and no randomness of their own.

`contract` says what a game is; each package beside it is one game, which registers
itself. `referee` is the game coin, `judge` holds the Python rules and the Chialisp
programs against each other.
"""
