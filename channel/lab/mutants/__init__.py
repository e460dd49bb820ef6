"""Mutants: a game's compiled programs with one place changed each, for the lab to find out.

A mutant that nothing finds out is either the same program in other words, which somebody has to
argue, or a hole in what the lab tries.
"""
