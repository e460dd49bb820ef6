"""`channelsim recover`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.cli.option_groups import EndingOptions
from channelsim.channel.cli.options import flag


def command(
    options: EndingOptions,
    *,
    publish_old: Annotated[
        bool,
        flag(
            "Publish the newest state of a store that the other side has shown to be an"
            " old copy. The other side chooses between that state and a newer one."
        ),
    ] = False,
) -> int:
    """Recover all our money from a channel, with nothing but its data directory.

    The counterparty is not asked. The command publishes the newest state, or continues a dispute or
    shutdown that had begun, and plays live games to their end on chain. It may be stopped and
    started again at any time. It uses the node of the settings, unless --node names another.

    From an old copy of the store it publishes nothing, and waits for the other side's close, unless
    --publish-old is given. At a terminal it asks before it publishes an old copy.

    Example: channelsim recover ~/channels/alice --node http://127.0.0.1:8555
    """
    from channelsim.channel.cli.endings import end_channel

    return end_channel(options, "recovery", publish_old=publish_old)
