"""Simulated disputes: an honest peer against an adversary, judged by a second model.

It imports `adversaries`, `session` and the packages below them.
"""
