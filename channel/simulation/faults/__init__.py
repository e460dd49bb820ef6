"""Faults planted in the honest side's engine, to prove that the promises notice them.

`table` lists them all, from a file for each part of a peer; `kinds` plants them, and `search` looks
for a run that notices each. It imports every other module of `simulation`.
"""
