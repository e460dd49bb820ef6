"""The kit for authors of games: record honest play, check conformance, start a new package.

It may import everything but the command line.
"""
