"""`channelsim bench`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.bench.figures import (
    crowded_blocks,
    long_channel,
    main,
    many_channels,
    waits_for_decks,
)
from channelsim.channel.cli.options import DAY, InText, Json, json_wanted, real, refuse, whole
from channelsim.channel.simulation.crowd import MOST_RATE


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
    crowd: Annotated[
        int | None,
        whole(
            1,
            MOST_RATE,
            "Instead, let others fill all blocks at this many mojos per cost, and measure which"
            " spends with a deadline are in with which maximum fee, pinned and not.",
        ),
    ] = None,
    block_every: Annotated[
        float, real(0.05, 3600, "With --channels: seconds between two blocks.")
    ] = 5.0,
    seconds: Annotated[float, real(1, DAY, "Measure for about this many seconds.")] = 20.0,
) -> int:
    """Measure hands against their cryptographic floor, and the Python rules against CLVM.

    Exit code 1: with --channels, a peer was late for a deadline; with --crowd, a spend was not in
    with a maximum fee that should suffice.

    Example: channelsim bench --json
    """
    if crowd is not None:
        refuse("does not go with --crowd", channels=channels, batches=batches, hands=hands)
        return crowded_blocks(crowd, as_json=json_wanted(json, text))
    if hands is not None:
        refuse("does not go with --hands", channels=channels, batches=batches)
        return waits_for_decks(hands, as_json=json_wanted(json, text))
    if batches is not None:
        refuse("does not go with --batches", channels=channels)
        return long_channel(batches, as_json=json_wanted(json, text))
    if channels is not None:
        return many_channels(channels, block_every, as_json=json_wanted(json, text))
    return main(seconds, as_json=json_wanted(json, text))
