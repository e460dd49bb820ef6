"""`channelsim close`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.endings import Ending, EndPolicy, Every, end_channel, node_of_directory
from channelsim.channel.cli.nodes import Certificate, NodeKey, NodeUrl
from channelsim.channel.cli.options import (
    InText,
    Json,
    MaxFee,
    MaxFees,
    file_argument,
    json_wanted,
)
from channelsim.channel.cli.passphrases import PassphraseFile, passphrase_of
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.session.peer_runner import POLL_TIME


def command(
    directory: Annotated[Path, file_argument("The data directory of one channel.")],
    node: NodeUrl = None,
    cert: Certificate = None,
    key: NodeKey = None,
    policy: EndPolicy = None,
    every: Every = POLL_TIME,
    max_fee: MaxFee = None,
    max_fees: MaxFees = None,
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
    as_json = json_wanted(json, text)
    chain = node_of_directory(directory, node, cert, key)
    passphrase = passphrase_of(directory, passphrase_file)
    fees = FeeLimits(max_fee, max_fees)
    ending = Ending("the player wants to close" if unilateral else None, policy, every, fees)
    return end_channel(directory, chain, passphrase, ending, as_json=as_json)
