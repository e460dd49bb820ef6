"""Peers that outlive their process: a journal of a peer's events with snapshots, on disk.

It imports `peer`, `protocol` and the packages below them.
"""
