"""Sessions that are measured: their setup, and the batches in them."""

from __future__ import annotations

from channelsim.channel.protocol.messages import Batch, decode
from channelsim.channel.session.defaults import DEFAULT_STACK, DEFAULT_UNIT
from channelsim.channel.session.session_events import Sent, SessionEvent
from channelsim.channel.session.setup import Setup, default_policy


def usual_setup(game: str, seed: str, hands: int) -> Setup:
    """So many hands of a game with the usual stakes and policy, which the channel can pay."""
    return Setup(
        games=(game,),
        seed=seed,
        hands=hands,
        unit=DEFAULT_UNIT,
        stack=DEFAULT_STACK,
        balance=DEFAULT_UNIT * DEFAULT_STACK * hands,
        policies=(default_policy((game,)),) * 2,
    )


def is_batch(event: SessionEvent) -> bool:
    """True if a peer sent a batch."""
    return isinstance(event, Sent) and isinstance(decode(event.message), Batch)
