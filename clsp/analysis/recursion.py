"""Room for functions that call themselves as deep as a program is nested."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

FRAMES = 100_000
"""Calls inside each other. Python keeps those of its own functions off the machine's stack."""


@contextmanager
def deep(frames: int = FRAMES) -> Iterator[None]:
    """Allow so many calls inside each other for a while."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
