"""`channelsim close`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.option_groups import EndingOptions
from channelsim.channel.cli.options import flag


def command(
    options: EndingOptions,
    *,
    unilateral: Annotated[bool, flag("Close on chain at once, without the other side.")] = False,
) -> int:
    """Close a channel, cooperatively or on chain, and wait for the last payout.

    It connects to the other side as `peer` does, plays live games to their end, begins no others,
    and asks for the clean shutdown. If the other side misses a deadline, the channel is closed
    unilaterally. With --unilateral, the newest state is published at once. It may be stopped and
    started again at any time.

    Example: channelsim close ~/channels/alice
    """
    from channelsim.channel.cli.endings import end_channel

    return end_channel(options, "the player wants to close" if unilateral else None)
