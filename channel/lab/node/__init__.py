"""Game coins spent on a node, compared with the Python model of the referee.

It imports `lab.crosscheck` and the packages before it.
"""
