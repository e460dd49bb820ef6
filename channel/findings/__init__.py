"""Findings of every checking command: their type, their counts in words, and their files.

It imports `system` and the games; it does not know what finds them.
"""
