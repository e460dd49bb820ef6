"""Bounds of what a player may set for a channel."""

from __future__ import annotations

MOST_TIMEOUT = 32256
"""The longest game timeout that a player accepts: a week, in blocks."""

MOST_SPACING = 100
"""The largest spacing: the timeouts that follow from it are far below their limits."""

USUAL_STATES, USUAL_BYTES = 20_000, 64 << 20
"""What one side keeps of a channel by default."""

LEAST_STATES, MOST_STATES = 10_000, 1_000_000
LEAST_BYTES, MOST_BYTES = 16 << 20, 192 << 20
"""Bounds of the limits that a user may set. A watcher reads no file of more than 256 MB, and the
bytes that are counted are never less than those that its file grows by."""
