"""One peer as a state machine without I/O: events in, effects out (`interface`).

It imports `protocol` and the packages below it; `machine` is the entry point.
"""
