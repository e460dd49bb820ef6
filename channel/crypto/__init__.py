"""BLS signatures, a player's keys, and secrets derived from a seed.

It imports `channelsim.channel.errors` only.
"""
