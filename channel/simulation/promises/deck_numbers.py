"""Check that the honest side lets no message use up many numbers of decks.

Source: spec/deck.md, "Decks of a channel".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import Violation
from channelsim.channel.peer.interface import Event, Received, Store
from channelsim.channel.protocol.deck_records import HIGHEST
from channelsim.channel.protocol.messages import DeckStep, decode
from channelsim.channel.simulation.run import Run

FARTHEST = 1000
"""The most that a new deck's number is above the highest used (PD-10)."""


def wasted_numbers(run: Run) -> Iterator[str]:
    """Find events that used up more numbers than the first step of a deck may."""
    highest, begun = 0, set[int | None]()
    for turn in run.parties[run.scenario.honest].journal:
        # A step that comes before play is held back, and begins its deck with a later block.
        begun.add(_begun(turn.event))
        for effect in turn.effects:
            if not isinstance(effect, Store) or effect.name != HIGHEST:
                continue
            before, highest = highest, msgspec.msgpack.decode(effect.data, type=int)
            if not isinstance(turn.event, Received | Block):
                # Our own decks have the next number, and a simulation's dealer gives one. A peer
                # that was killed before it could report an event shows its number at a restart.
                continue
            if highest not in begun and highest > before + 1:
                yield f"PD-9: no deck is begun, and numbers {before + 1} to {highest} are used up"
            if highest > before + FARTHEST:
                yield f"PD-10: deck {highest} is begun after deck {before}"


def _begun(event: Event | None) -> int | None:
    """The number of the deck that a message begins; None for any other event."""
    with suppress(Violation):
        message = decode(event.message) if isinstance(event, Received) else None
        if isinstance(message, DeckStep) and message.step == 1:
            return message.deck_no
    return None
