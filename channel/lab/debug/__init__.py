"""The debugger: one case step by step, forward and back, with the author's source beside it.

It imports `lab.trace` and the packages before it.
"""
