"""Traces: one run step by step, and why it ended as it did.

It imports `lab.targets`.
"""
