"""`channelsim close`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.endings import EndingOptions, end_channel
from channelsim.channel.cli.options import InText, Json, file_argument, json_wanted
from channelsim.channel.cli.passphrases import PassphraseFile


def command(
    directory: Annotated[Path, file_argument("The data directory of one channel.")],
    *,
    options: EndingOptions,
    unilateral: Annotated[
        bool, typer.Option("--unilateral", help="Close on chain at once, without the other side.")
    ] = False,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
    text: InText = False,
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
        as_json=json_wanted(json, text),
    )
