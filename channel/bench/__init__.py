"""Benchmarks: hands against their floor, and Python rules against CLVM.

It imports every package but `cli`.
"""
