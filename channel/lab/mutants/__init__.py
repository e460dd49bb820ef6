"""Mutants: a game's compiled programs, each with one place changed, which the lab must detect.

A mutant that survives is either equivalent to its original, for a stored reason, or a gap in what
the lab tries. It imports `lab.crosscheck` and the rooms before it.
"""
