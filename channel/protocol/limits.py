"""Size limits of messages, by what the state allows the counterparty to send.

A longer message is refused undecoded: decoding takes ten times its size in memory, and part of
the result stays there. Source: spec/channel.md, "Messages".
"""

from __future__ import annotations

from channelsim.channel.protocol.messages import MAX_MESSAGE, MAX_OPENING_MESSAGE, MAX_TEXT
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.protocol.transitions import MAX_OPEN_PROPOSALS

FRAME = 1024
"""Bytes of a batch without actions, and more than any other message but those of the opening."""

ACTION = 256
"""Bytes of a settlement, an acceptance, or a move without its move bytes."""

CANCEL = MAX_TEXT + 100
"""Bytes of a cancellation."""

OFFER = 2048
"""Bytes of one game of a proposal, with as many and as long parameters as there may be."""


def message_limit(state: ChannelState | None) -> int:
    """The longest message, in bytes, that can follow this state; None stands for the opening."""
    if state is None:
        return MAX_OPENING_MESSAGE
    moves = sum(2 * ACTION + game.position.max_move_size for game in state.games)
    offers = [offer for group in state.groups for offer in group.offers]
    answers = sum(CANCEL + ACTION + offer.max_move_size for offer in offers)
    return min(FRAME + moves + answers + MAX_OPEN_PROPOSALS * OFFER, MAX_MESSAGE)
