"""Units of work, by which campaigns and hunts are bounded: the same on every machine."""

from __future__ import annotations

SECOND = 330_000
"""Units of work in a second: fewer than most machines do, so that a campaign usually completes
its work before the clock stops it."""

A_CASE = 9
"""The work of a case besides its run: mutation, and the rules' verdict."""

COST = 30_000
"""The CLVM cost that counts as one unit of work."""
