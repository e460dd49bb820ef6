"""The driver of two peers on one node, and sessions of honest ones: set-up, deciders, transcripts.

It imports `peer`, `protocol` and the packages below them.
"""
