"""Faults planted in the product, each in turn, and the sessions until `attack` notices it.

A fault is noticed if a session with it breaks a monitor that the same session keeps without it.
Never change the search so that a fault of this table is noticed: judge it by other seeds, and add
faults.
"""
