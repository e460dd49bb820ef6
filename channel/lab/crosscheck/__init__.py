"""Cross-checks: every law on generated cases, shared by worker processes.

It imports `lab.laws` and the packages before it.
"""
