"""Benchmarks: the time of hands against their floor, and of Python rules against CLVM.

`scripts/bench` runs them.
"""
