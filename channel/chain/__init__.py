"""Coins, spends and observations as values, and full nodes behind one interface.

It imports `crypto` and `system`; peers import its values, never a node.
"""
