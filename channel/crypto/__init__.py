"""BLS signatures, a player's keys, and secrets derived from a seed.

It imports `channel.errors` only.
"""
