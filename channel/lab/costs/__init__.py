"""CLVM costs of validators, of the referee's paths and of whole spends.

It imports `lab.node` and the packages before it.
"""
