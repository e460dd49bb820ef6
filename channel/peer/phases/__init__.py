"""The transitions of a peer: each takes a state and an event, and returns a state and effects.

It imports the parts of a peer beside it; `peer.machine` has the table of all transitions.
"""
