"""Mutation testing: change a game's programs in one place each, and expect the lab to notice.

A mutant that survives is either equivalent to its original, for a stored reason, or a gap in what
the lab tries. It imports `lab.crosscheck` and the packages before it.
"""
