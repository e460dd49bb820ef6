"""Fuzzing, coverage, mutants and costs of validators, ours or an author's.

It imports `protocol` and the packages below it, and nothing of a peer.
"""
