"""`channelsim recover`."""

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
    publish_old: Annotated[
        bool,
        typer.Option(
            "--publish-old",
            help="Publish the newest state of a store that the other side has shown to be an old"
            " copy. The other side chooses between that state and a newer one.",
        ),
    ] = False,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
    text: InText = False,
) -> int:
    """Recover all our money from a channel, with nothing but its data directory.

    The counterparty is not asked. The command publishes the newest state, or continues a dispute or
    shutdown that had begun, and plays live games to their end on chain. It may be stopped and
    started again at any time. It uses the node of the settings, unless --node names another.

    From an old copy of the store it publishes nothing, and waits for the other side's close, unless
    --publish-old is given. At a terminal it asks before it publishes an old copy.

    Example: channelsim recover ~/channels/alice --node http://127.0.0.1:8555
    """
    as_json = json_wanted(json, text)
    chain = node_of_directory(directory, node, cert, key)
    passphrase = passphrase_of(directory, passphrase_file)
    fees = FeeLimits(max_fee, max_fees)
    ending = Ending("recovery", policy, every, fees, publish_old=publish_old)
    return end_channel(directory, chain, passphrase, ending, as_json=as_json)
