"""Secrets derived from a seed by HKDF, per player, channel and game, the same on any machine."""

from __future__ import annotations

import os
from collections.abc import Callable

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_SALT = b"channelsim/1"


def derive(secret: bytes, *labels: str | int, length: int = 32) -> bytes:
    """Derive `length` bytes for the purpose that the labels name (HKDF-SHA256).

    Each label is prefixed with its length, so different lists of labels never collide.

    >>> derive(b"seed", "player", "alice") == derive(b"seed", "player", "alice")
    True
    >>> derive(b"seed", "ab", "c") == derive(b"seed", "a", "bc")
    False
    """
    info = b""
    for label in labels:
        text = str(label).encode()
        info += len(text).to_bytes(2, "big") + text
    return HKDF(algorithm=SHA256(), length=length, salt=_SALT, info=info).derive(secret)


def game_entropy(channel_secret: bytes) -> Callable[[int], bytes]:
    """Derive the secret bytes that each game of a channel is played with, by the game's id."""
    return lambda game_id: derive(channel_secret, "game", game_id, length=64)


def fresh_seed() -> str:
    """A seed from the operating system, as 32 hex digits."""
    return os.urandom(16).hex()


def system_random(size: int) -> bytes:
    """Secret random bytes from the operating system."""
    return os.urandom(size)
