"""One memory for all that both sides, their monitors and their restarts compute alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from channelsim.channel.crypto import bls
from channelsim.clsp import run
from channelsim.games.deck import group


@contextmanager
def remembered() -> Iterator[None]:
    """Remember signatures, products of points and runs of programs in this block.

    Each is a function of its bytes. What counts them hears of each, remembered or not.
    """
    with bls.remembered(), group.remembered(), run.remembered():
        yield
