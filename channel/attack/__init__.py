"""Whole sessions under faults: the programs that users run, on one event loop with virtual time.

Everything that goes wrong is drawn from a seed, as data that can be run again. It imports the
packages below `channel`, up to `simulation`.
"""
