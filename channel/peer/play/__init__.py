"""Batches: composing our own, and validating those of the other side.

It imports `protocol` and the packages below it.
"""
