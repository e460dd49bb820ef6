"""Runs of a target's referee program.

It imports `lab.sites` and the packages before it.
"""
