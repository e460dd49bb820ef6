"""What a side remembers of refused proposals: each mistake is found, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.refusals_due import wrong_refusal
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Received, Send
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.peer.play.play_state import Refusal
from channelsim.channel.protocol.messages import Accept, Batch, BatchAction, Cancel, encode
from channelsim.channel.protocol.state import Side

HALF = bytes(96)

OTHERS = Refusal(Side.INITIATOR, Side.RECEIVER, "no", deck_lost=False)

OURS = Refusal(Side.RECEIVER, Side.INITIATOR, "no", deck_lost=False)
THEIRS = Refusal(Side.RECEIVER, Side.RECEIVER, "no", deck_lost=False)


def state(
    number: int,
    refusal: Refusal | None = None,
    phase: Phase = Phase.PLAYING,
    decks: tuple[int, ...] = (),
) -> Any:
    """The state of the initiator, which has received the even ones, with an open proposal."""
    newest = SimpleNamespace(state=SimpleNamespace(number=number - number % 2))
    group = SimpleNamespace(id=5, proposer=Side.RECEIVER, decks=lambda: decks)
    open_state = SimpleNamespace(number=number, groups=(group,))
    history = SimpleNamespace(older=None)
    play = SimpleNamespace(state=open_state, newest=newest, refusal=refusal, history=history)
    return SimpleNamespace(phase=phase, play=play)


def batch(number: int, *actions: BatchAction) -> bytes:
    return encode(Batch(number, actions, HALF, HALF))


CANCEL, ACCEPT = Cancel(5, "no"), Accept(4)

LOST = Cancel(5, "PD-9: deck 1 is unknown")
LOST_DECK = Refusal(Side.RECEIVER, Side.RECEIVER, LOST.reason, deck_lost=True)


@pytest.mark.parametrize(
    ("event", "before", "after", "sent", "right"),
    [
        (Received(batch(4, CANCEL)), state(3), state(4, THEIRS), (), True),
        (Received(batch(4, CANCEL)), state(3), state(4), (), False),
        (Received(batch(4, CANCEL)), state(3), state(4, OURS), (), False),
        (Received(batch(4, ACCEPT)), state(3, THEIRS), state(4), (), True),
        (Received(batch(4, ACCEPT)), state(3, THEIRS), state(4, THEIRS), (), False),
        # A batch of the same event, and one that is known.
        (Received(batch(4, ACCEPT)), state(3), state(5, OURS), (batch(5, CANCEL),), True),
        (Received(batch(4, CANCEL)), state(3), state(5), (batch(5, ACCEPT),), True),
        (Received(batch(4, CANCEL)), state(4, OURS), state(4, OURS), (), True),
        (Block(7), state(5), state(5), (batch(5, CANCEL),), True),
        (Block(7), state(5, OURS), state(5), (), False),
        # Whose proposal it was, and whether its deck was lost.
        (Received(batch(4, CANCEL)), state(3), state(4, OTHERS), (), False),
        (Received(batch(4, LOST)), state(3, decks=(1,)), state(4, LOST_DECK), (), True),
        (Received(batch(4, LOST)), state(3), state(4, LOST_DECK), (), False),
        # Outside of play nobody proposes.
        (Received(batch(4, CANCEL)), state(3), state(3, phase=Phase.ON_CHAIN), (), True),
        (None, state(3, OURS), state(3), (), True),
    ],
)
def test_the_newest_refusal_is_remembered_until_a_game_begins(
    event: Any, before: Any, after: Any, sent: tuple[bytes, ...], right: bool
) -> None:
    effects = [Send(message) for message in sent]
    found = [*wrong_refusal(Side.INITIATOR, event, before, after, effects)]
    assert (found == []) is right
