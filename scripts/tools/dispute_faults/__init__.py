"""Faults planted in the honest side's engine, to prove that the promises of disputes notice them.

`table` lists them all, from a file for each part of a peer; `search` looks for a run that notices
each. The wrong behaviours are planted for `attack_faults`, too.
"""
