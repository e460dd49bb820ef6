"""Single changes of the engine's own code, drawn at random, and whether sessions notice them.

Planted faults are those that somebody thought of. These are not: a change is *different* if some
session with it goes another way, and each one that nothing notices may be a check that is missing.
"""
