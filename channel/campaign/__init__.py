"""Campaigns: work cut into shards, done on processes or a cluster, and resumed from a directory.

It knows nothing of what the shards do. It imports `findings` and the packages before it.
"""
