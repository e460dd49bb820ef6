"""`channelsim channels`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import PassphraseFile
from channelsim.channel.cli.options import OutputForm, file_argument


def command(
    directory: Annotated[Path, file_argument("A data directory, or a folder of data directories.")],
    passphrase_file: PassphraseFile = None,
    *,
    form: OutputForm,
) -> int:
    """Show what data directories hold: states, games, coins, and what is due by which height.

    Their peers may be running; nothing is written or locked. A directory that cannot be read is
    named on stderr, with exit code 2, and the others are shown. Without the passphrase of an
    encrypted one, it shows less, and says what is hidden. Heights are as of the last event that
    the peer stored.

    Example: channelsim channels ~/channels/alice
    """
    from channelsim.channel.cli.work.channels import show_channels

    return show_channels(directory, passphrase_file, form)
