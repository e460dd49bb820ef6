"""Connections between two peers: TLS by pinned keys, frames, limits and reconnection.

It imports `protocol` and the packages below it, and knows no peer.
"""
