"""The rules of the games: pure, without I/O, clock or randomness of their own.

`contract` defines a game; each package beside it is one. `referee` is the game coin, and `judge`
compares the Python rules with the Chialisp programs.
"""
