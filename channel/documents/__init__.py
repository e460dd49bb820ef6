"""Results of commands as documents: one type for each command, which is written and read back.

It imports `lab`, `simulation` and the packages before them.
"""
