"""Decks that are prepared ahead of the games that use them, while other games are played.

It imports `protocol`, `games.deck` and the packages below them.
"""
