"""Fuzzers: a search guided by coverage, shrinking, and findings on disk.

It imports `lab.laws` and the packages before it.
"""
