"""The limits of one attacked session, so that one which loops ends, and says so.

Steps and violations are counted: the same script ends at the same one. The processor time is
bounded, too, for code that never comes back from one event; no session comes near that.
"""

from __future__ import annotations

MOST_STEPS = 30_000
"""The most events of both sides, with their effects."""

MOST_VIOLATIONS = 60
"""The most violations: after so many a session ends early, as what it does may grow and grow."""

MOST_SECONDS = 90.0
"""The most seconds of the processor."""


class Endless(KeyboardInterrupt):
    """A session does not end: no part of it may take this for a failure of its own."""
