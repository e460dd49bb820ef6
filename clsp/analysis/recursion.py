"""A higher recursion limit, for functions that recurse as deep as a program is nested."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

FRAMES = 100_000
"""Calls inside each other. Python keeps those of its own functions off the machine's stack."""


@contextmanager
def deep(frames: int = FRAMES) -> Iterator[None]:
    """Raise the recursion limit to this many frames for a block of code."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
