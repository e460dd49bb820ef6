"""Watching a channel without its keys: the data that a watcher needs, and what it does with them.

It imports `protocol` and `chain`, and nothing that signs; only its `pusher` does, which pays fees
as a `peer` does.
"""
