"""Merge corpora of several campaigns, or keep the few cases that reach all that a corpus reaches.

Example: channelsim corpus merge monday tuesday -o both
"""
