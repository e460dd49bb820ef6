"""Benchmarks: the time of hands against their floor, and of Python rules against CLVM.

It imports every package but `cli`.
"""
