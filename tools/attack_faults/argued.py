"""Faults that no attacked session can notice: why, and the unit test that does."""

from __future__ import annotations

ARGUED: dict[str, tuple[str, str]] = {}
"""By name: the reason, and the test as pytest names it."""
