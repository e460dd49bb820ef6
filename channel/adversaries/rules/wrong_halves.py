"""Halves that are wrong for a state, in the opening as in play."""

from __future__ import annotations

from chia_rs import G2Element
from msgspec.structs import replace

from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, Halves, sign_halves
from channelsim.channel.protocol.state import Channel, ChannelState


def wrong_halves(channel: Channel, keys: SecretKeys, state: ChannelState) -> list[Halves]:
    """Halves of these keys of which both are wrong for a state."""

    def signed(**changes: object) -> Halves:
        return sign_halves(channel, keys, replace(state, **changes))

    (first, second), total = state.balances, channel.coin.amount
    halves, on_chain = signed(), channel.on_chain(state)
    shift = bytes(G2Element.generator())
    return [
        signed(number=abs(state.number - 1)),  # the other state of the opening, for the first one
        signed(number=state.number + 2),
        signed(balances=(first - 1, second + 1)),
        *(signed(balances=everything, games=()) for everything in ((total, 0), (0, total))),
        (NO_SIGNATURE, NO_SIGNATURE),
        (bytes(96), b"\xff" * 96),
        (halves[1], halves[0]),
        (bls.add(halves[0], shift), bls.without(halves[1], shift)),
        (
            # Without the sum of both keys in front.
            bls.sign(keys.channel, on_chain.channel_message),
            bls.sign(keys.unroll, on_chain.unroll_message),
        ),
    ]


Fields = dict[str, object]
"""Fields of a message that are wrong."""


def wrong_channel_halves(channel: Channel, keys: SecretKeys, state: ChannelState) -> list[Fields]:
    """A wrong channel half, or two wrong halves."""
    wrong = wrong_halves(channel, keys, state)
    alone: list[Fields] = [{"channel_half": half} for half, _ in wrong]
    both: list[Fields] = [{"channel_half": half, "unroll_half": other} for half, other in wrong]
    return [*alone, *both]


def wrong_unroll_halves(channel: Channel, keys: SecretKeys, state: ChannelState) -> list[Fields]:
    """A wrong unroll half."""
    return [{"unroll_half": half} for _, half in wrong_halves(channel, keys, state)]
