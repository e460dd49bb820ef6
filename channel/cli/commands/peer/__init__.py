"""Play one side of a channel in its own process, against any node and any other side.

Both players exchange fingerprints (`peer identity`) and agree on games and amounts; then the
receiver listens, and the initiator connects.

Example: channelsim peer connect alice
"""
