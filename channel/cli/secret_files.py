"""Secrets that commands read: passphrases of data directories, and keys of wallets.

A passphrase comes from a file, the environment or a terminal. It is never an argument: other
processes can read those.
"""

from __future__ import annotations

import os
import sys
from getpass import getpass
from pathlib import Path

from chia_rs import PrivateKey
from chia_wallet_sdk import SecretKey

from channelsim.channel.cli.option_groups import PASSPHRASE_VARIABLE
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import key_is_encrypted
from channelsim.channel.store.data_directory import is_complete
from channelsim.channel.store.keys_file import is_encrypted
from channelsim.channel.system.input_files import read

LONGEST = 1024


def passphrase_of(directory: Path, file: Path | None) -> bytes:
    """The passphrase of a data directory, or of one that is to be made; empty for none.

    At a terminal it is asked for if need be. Raises `UsageError`.
    """
    if file is not None or PASSPHRASE_VARIABLE in os.environ:
        return given_passphrase(file)
    # A directory begins with its network key.
    begun = is_complete(directory)
    encrypted = is_encrypted(directory) if begun else key_is_encrypted(directory)
    if not sys.stdin.isatty() or encrypted is False:
        return b""
    return _asked(directory, new=encrypted is None)


def given_passphrase(file: Path | None) -> bytes:
    """The passphrase in a file or the environment; empty for none. Raises `UsageError`."""
    if file is None:
        return os.environb.get(PASSPHRASE_VARIABLE.encode(), b"")
    lines = read(file, LONGEST).splitlines()
    if not lines or not lines[0]:
        raise UsageError(f"{file}: its first line is empty: there is no passphrase")
    return lines[0]


def _asked(directory: Path, *, new: bool) -> bytes:
    try:
        if not new:
            return getpass(f"passphrase of {directory}: ").encode()
        first = getpass(f"new passphrase of {directory} (none: its files are not encrypted): ")
        if first and getpass("again: ") != first:
            raise UsageError("the two passphrases differ: nothing was written")
    except EOFError:
        raise UsageError("the input ended where the passphrase was needed") from None
    return first.encode()


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
