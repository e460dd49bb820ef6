"""Subtrees of values by the ways to them."""

from __future__ import annotations

from channelsim.clsp.values import Value


def subtree(value: Value, at: str) -> Value | None:
    """The subtree at this way; None for a way into an atom."""
    for step in at:
        if not isinstance(value, tuple):
            return None
        value = value[step == "r"]
    return value
