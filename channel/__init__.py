"""The state channel: protocol, chain, drivers, reports and the command line.

Each peer is a state machine without I/O (`channel.peer.machine`): an event in, effects out. What
carries bytes, pushes spends and farms blocks stands around it (`channel.session.session`,
`channel.chain`).
"""

__version__ = "0.1.0"
