"""Openings: the parts of moves whose hash is in a state."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

LONGEST = 64
"""Only this many leading bytes of a move are searched."""

SHORTEST = 8
"""Fewer bytes commit to nothing."""


def atom_tree_hash(secret: bytes) -> bytes:
    """The tree hash of one atom, the other hash that commits to it."""
    return sha256(b"\x01" + secret).digest()


@lru_cache(maxsize=1024)
def opening(move: bytes, atoms: frozenset[bytes]) -> tuple[int, int] | None:
    """Find the longest part of the move whose hash, or tree hash, is one of these atoms.

    >>> image = sha256(b"0123456789").digest()
    >>> opening(b"xx0123456789yy", frozenset({image}))
    (2, 12)
    >>> opening(b"xx0123456789yy", frozenset({bytes(32)})) is None
    True
    """
    images = {atom for atom in atoms if len(atom) == 32}
    size = min(len(move), LONGEST)
    if not images:
        return None
    for length in range(size, SHORTEST - 1, -1):
        for start in range(size - length + 1):
            shown = move[start : start + length]
            if sha256(shown).digest() in images or atom_tree_hash(shown) in images:
                return start, start + length
    return None
