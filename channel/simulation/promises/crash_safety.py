"""Check that no two messages of a side sign different things at one place of the protocol.

It could be killed at any instant between them. Source: spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from channelsim.channel.protocol.messages import (
    UNSIGNED,
    Batch,
    Message,
    Shutdown,
    decode,
)


def contradictions(messages: Iterable[bytes]) -> Iterator[str]:
    """Find contradictions among the messages of one side, in the order in which it sent them."""
    said: dict[tuple[str, int], bytes] = {}
    closing = False
    for blob in messages:
        message = decode(blob)
        if isinstance(message, UNSIGNED):
            continue
        place = _place(message)
        if said.setdefault(place, blob) != blob:
            yield f"two different messages: {place[0]} {place[1]}"
        elif closing and isinstance(message, Batch):
            yield f"state {message.number} after its half of the shutdown"
        closing = closing or isinstance(message, Shutdown)


def _place(message: Message) -> tuple[str, int]:
    number = message.number if isinstance(message, Batch) else 0
    return type(message).__name__.lower(), number
