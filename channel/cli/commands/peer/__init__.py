"""Play one side of a channel in a process of its own, against any node and any other side.

Both players exchange fingerprints (`peer identity`) and agree on games and amounts; then the
receiver listens, and the initiator connects.
"""
