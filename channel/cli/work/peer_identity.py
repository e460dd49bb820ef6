"""The work of `channelsim peer identity`."""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.cli.secret_files import passphrase_of
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.report.terminal import print_json


def identify(directory: Path, passphrase_file: Path | None, *, json: bool) -> int:
    """Print the fingerprint of a data directory's network key, which is created if need be."""
    passphrase = passphrase_of(directory, passphrase_file)
    make_identity(directory, passphrase)
    fingerprint = read_identity(directory, passphrase).fingerprint
    if json:
        print_json({"fingerprint": fingerprint})
    else:
        print(fingerprint)
    return 0
