"""`channelsim peer connect`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.option_groups import PeerOptions
from channelsim.channel.cli.options import text


def command(
    options: PeerOptions,
    address: Annotated[str | None, text("Where the receiver listens.", "HOST:PORT")] = None,
) -> int:
    """Play the initiator, who connects to the receiver, until the channel has ended.

    A new DIR needs --node, --peer, --game and --wallet-key. A DIR that has a channel resumes it,
    even after a kill; only the address, the node, the policy and the maxima of fees can then be
    changed. It prints each event; with --json, as a line of JSON. Exit code 1: the channel did not
    end by a clean shutdown.

    Example: channelsim peer connect alice --address HOST:PORT
    """
    from channelsim.channel.cli.peers import run_peer
    from channelsim.channel.protocol.state import Side

    return run_peer(Side.INITIATOR, address, options)
