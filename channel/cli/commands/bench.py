"""`channelsim bench`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.bench.figures import (
    long_channel,
    main,
    many_channels,
    waits_for_decks,
)
from channelsim.channel.cli.options import DAY, InText, Json, json_wanted, real, refuse, whole


def command(
    json: Json = False,
    text: InText = False,
    channels: Annotated[
        int | None,
        whole(1, 1000, "Instead, play in this many linked channels at once, in one process."),
    ] = None,
    batches: Annotated[
        int | None,
        whole(
            20,
            1_000_000,
            "Instead, play this many batches in one channel with its stores on disk, and measure"
            " its restart time, disk space and memory.",
        ),
    ] = None,
    hands: Annotated[
        int | None,
        whole(
            2,
            1000,
            "Instead, play this many hands of Hold'em with a person at the table, and measure how"
            " long each hand waits for its deck.",
        ),
    ] = None,
    block_every: Annotated[
        float, real(0.05, 3600, "With --channels: seconds between two blocks.")
    ] = 5.0,
    seconds: Annotated[float, real(1, DAY, "Measure for about this many seconds.")] = 20.0,
) -> int:
    """Measure hands against their cryptographic floor, and the Python rules against CLVM.

    With --channels, exit code 1: a peer was late for a deadline.

    Example: channelsim bench --json
    """
    if hands is not None:
        refuse("does not go with --hands", channels=channels, batches=batches)
        return waits_for_decks(hands, as_json=json_wanted(json, text))
    if batches is not None:
        refuse("does not go with --batches", channels=channels)
        return long_channel(batches, as_json=json_wanted(json, text))
    if channels is not None:
        return many_channels(channels, block_every, as_json=json_wanted(json, text))
    return main(seconds, as_json=json_wanted(json, text))
