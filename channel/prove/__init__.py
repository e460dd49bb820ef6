"""Proofs about compiled programs: run on symbolic arguments, path by path, and compared by an SMT
solver; every path and every counterexample is then run for real.

It imports `lab` and the packages before it. Importing it needs the extra `prove` (`z3-solver`).
"""
