"""`channelsim peer identity`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import PassphraseFile
from channelsim.channel.cli.options import Json, file_argument


def command(
    directory: Annotated[Path, file_argument("The data directory of one channel.")],
    passphrase_file: PassphraseFile = None,
    json: Json = False,
) -> int:
    """Print the fingerprint of a data directory's network key, and create the key if there is none.

    The counterparty passes it as --peer.

    Example: channelsim peer identity alice
    """
    from channelsim.channel.cli.secret_files import passphrase_of
    from channelsim.channel.network.identity import make_identity, read_identity
    from channelsim.channel.report.terminal import print_json

    passphrase = passphrase_of(directory, passphrase_file)
    make_identity(directory, passphrase)
    fingerprint = read_identity(directory, passphrase).fingerprint
    if json:
        print_json({"fingerprint": fingerprint})
    else:
        print(fingerprint)
    return 0
