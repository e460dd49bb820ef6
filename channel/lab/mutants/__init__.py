"""Mutants: a game's compiled programs, each with one place changed, which the lab must detect.

A mutant that nothing finds out is either the same program in other words, which somebody has to
argue, or a hole in what the lab tries.
"""
