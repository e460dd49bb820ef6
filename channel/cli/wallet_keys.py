"""Files with the secret key of a wallet: 64 hex digits."""

from __future__ import annotations

from pathlib import Path

from chia_rs import PrivateKey
from chia_wallet_sdk import SecretKey

from channelsim.channel.errors import UsageError
from channelsim.channel.system.input_files import read

MOST_KEY = 256
"""Bytes of a file with a wallet's key."""


def read_wallet_keys(path: Path) -> tuple[PrivateKey, PrivateKey]:
    """The two keys that the key in a file may stand for. Raises `UsageError`.

    The first is the synthetic key that the puzzle of its address makes of it; the second is the key
    itself, which may be a synthetic one already.
    """
    text = read(path, MOST_KEY).decode(errors="replace").strip()
    try:
        key = SecretKey.from_bytes(bytes.fromhex(text))
    except ValueError:
        raise UsageError(
            f"{path}: no secret key of a wallet: 64 hex digits, as `channelsim node` prints them"
        ) from None
    synthetic, itself = (
        PrivateKey.from_bytes(each.to_bytes()) for each in (key.derive_synthetic(), key)
    )
    return synthetic, itself
