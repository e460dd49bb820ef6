"""States with the counterparty's half-signatures, and the spends that our own half completes."""

from __future__ import annotations

import msgspec

from channelsim.channel.chain.coins import Bundle, Coin, Spend, standard_spend
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import Violation
from channelsim.channel.protocol.state import Channel, ChannelState, Side, StateOnChain
from channelsim.channel.protocol.unroll import to_unroll
from channelsim.clsp.values import serialize

Halves = tuple[bytes, bytes]
"""A state's two half-signatures: of the channel coin's spend, and of the preemption."""


class SignedState(msgspec.Struct, frozen=True):
    """A received state with the counterparty's verified half-signatures."""

    state: ChannelState
    on_chain: StateOnChain
    halves: Halves


def sign_halves(channel: Channel, secret: SecretKeys, state: ChannelState) -> Halves:
    """Sign both halves of a state that we send."""
    on_chain = channel.on_chain(state)
    return (
        bls.sign_half(secret.channel, on_chain.channel_message, channel.channel_key),
        bls.sign_half(secret.unroll, on_chain.unroll_message, channel.unroll_key),
    )


def check_halves(
    channel: Channel, sender: Side, state: ChannelState, halves: Halves, rule: str = ""
) -> SignedState:
    """Verify both halves of a received state. Raises `Violation` for an invalid one."""
    on_chain = channel.on_chain(state)
    verify_halves(channel, sender, state.number, on_chain, halves, rule)
    return SignedState(state, on_chain, halves)


def verify_halves(
    channel: Channel,
    signer: Side,
    number: int,
    on_chain: StateOnChain,
    halves: Halves,
    rule: str = "",
) -> None:
    """Verify both halves of a state of this number. Raises `Violation` for an invalid one."""
    keys = channel.keys[signer]
    channel_half, unroll_half = halves
    if not bls.verify_half(
        keys.channel, on_chain.channel_message, channel.channel_key, channel_half
    ):
        raise Violation(rule or "CH-BATCH-4", f"the channel half does not sign state {number}")
    if not bls.verify_half(keys.unroll, on_chain.unroll_message, channel.unroll_key, unroll_half):
        raise Violation(rule or "CH-BATCH-5", f"the unroll half does not sign state {number}")


def unroll_coin(channel: Channel, state: ChannelState) -> Coin:
    """The unroll coin that the channel coin becomes when this state is published."""
    return Coin(channel.coin.id, channel.on_chain(state).unroll_puzzle_hash, channel.coin.amount)


def publish(channel: Channel, secret: SecretKeys, signed: SignedState) -> Bundle:
    """The channel coin's spend to this state's unroll coin, completed with our half."""
    conditions = to_unroll(signed.on_chain.unroll_puzzle_hash, channel.coin.amount)
    spend = standard_spend(channel.coin, bytes(channel.channel_key), conditions)
    ours = bls.sign_half(secret.channel, signed.on_chain.channel_message, channel.channel_key)
    return Bundle((spend,), bls.add(signed.halves[0], ours))


def preempt(
    channel: Channel, secret: SecretKeys, signed: SignedState, older: ChannelState
) -> Bundle:
    """The spend of an older state's unroll coin by this one, completed with our half."""
    solution = serialize(channel.preemption_conditions(signed.state))
    puzzle = channel.unroll_puzzle(older).serialized
    ours = bls.sign_half(secret.unroll, signed.on_chain.unroll_message, channel.unroll_key)
    spend = Spend(unroll_coin(channel, older), puzzle, solution)
    return Bundle((spend,), bls.add(signed.halves[1], ours))


def time_out(channel: Channel, state: ChannelState) -> Bundle:
    """The spend of an unroll coin after its timeout; it needs no signature."""
    spend = Spend(
        unroll_coin(channel, state),
        channel.unroll_puzzle(state).serialized,
        serialize(channel.timeout_conditions(state)),
    )
    return Bundle((spend,), NO_SIGNATURE)


NO_SIGNATURE = bytes([0xC0]) + bytes(95)
"""The signature of nothing: the point at infinity."""
