"""The state channel: protocol, chain, drivers, reports and the command line.

Each peer is a state machine without I/O (`channel.peer.machine`): an event in, effects out. The
driver (`channelsim.channel.session.driver`) carries bytes, pushes spends and makes blocks.
"""

__version__ = "0.1.0"
