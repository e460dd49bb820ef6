"""Adversaries by name: honest peers that deviate in one way each.

A new adversary is a file here with a registered class; it imports `peer` and below.
"""
