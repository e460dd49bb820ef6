"""`channelsim peer listen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.new_channel import PeerOptions
from channelsim.channel.cli.options import OutputForm, file_argument
from channelsim.channel.cli.peers import run_peer
from channelsim.channel.protocol.state import Side


def command(
    directory: Annotated[Path, file_argument("The data directory of one channel.")],
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where to listen (a free local port).")
    ] = None,
    *,
    options: PeerOptions,
    form: OutputForm,
) -> int:
    """Play the receiver, who waits for the initiator to connect, until the channel has ended.

    A new DIR needs --node, --peer, --game and --wallet-key. A DIR that has a channel resumes it,
    even after a kill; only the address, the node, the policy and the maxima of fees can then be
    changed. It prints each event; with --json, as a line of JSON. Exit code 1: the channel did not
    end by a clean shutdown.

    Example: channelsim peer listen bob --node URL --peer HEX --game {game} --wallet-key FILE
    """
    as_json = form.as_json
    return run_peer(Side.RECEIVER, directory, address, options, as_json=as_json)
