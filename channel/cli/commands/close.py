"""`channelsim close`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.endings import EndingOptions, end_channel
from channelsim.channel.cli.options import OutputForm, file_argument
from channelsim.channel.cli.secret_files import PassphraseFile


def command(
    directory: Annotated[Path, file_argument("The data directory of one channel.")],
    *,
    options: EndingOptions,
    unilateral: Annotated[
        bool, typer.Option("--unilateral", help="Close on chain at once, without the other side.")
    ] = False,
    passphrase_file: PassphraseFile = None,
    form: OutputForm,
) -> int:
    """Close a channel, cooperatively or on chain, and wait for the last payout.

    It connects to the other side as `peer` does, plays live games to their end, begins no others,
    and asks for the clean shutdown. If the other side misses a deadline, the channel is closed
    unilaterally. With --unilateral, the newest state is published at once. It may be stopped and
    started again at any time.

    Example: channelsim close ~/channels/alice
    """
    return end_channel(
        directory,
        options,
        passphrase_file,
        "the player wants to close" if unilateral else None,
        as_json=form.as_json,
    )
