"""Coins, spends and observations as values, and full nodes behind one interface.

It imports `channelsim.channel.errors` only; peers import its values, never a node.
"""
