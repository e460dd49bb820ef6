"""Checks of the counterparty's keys, address and terms: messages A, B and C.

Source: spec/channel.md, "Keys and signatures" and "Opening".
"""

from __future__ import annotations

from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keys import PublicKeys
from channelsim.channel.errors import Violation
from channelsim.channel.peer.agreement import Agreement, least_unroll_timeout
from channelsim.channel.protocol.messages import Introduction
from channelsim.channel.protocol.proposals import by_spacing
from channelsim.games.amounts import counted
from channelsim.games.referee import payout_message


def check_introduction(
    theirs: Introduction, ours: PublicKeys, reward_address: bytes, agreed: Agreement
) -> None:
    """Check what messages A and B have in common. Raises `Violation`."""
    unroll_key = PublicKeys.read_key("unroll", theirs.unroll_key)
    referee_key = PublicKeys.read_key("referee", theirs.referee_key)
    if {theirs.unroll_key, theirs.referee_key} & set(ours.all()):
        raise Violation("CH-OPEN-1", "two keys are the same")
    if not bls.verify(unroll_key, theirs.unroll_key, theirs.unroll_proof):
        raise Violation("CH-OPEN-2", "the unroll key's proof is not its signature")
    message = payout_message(theirs.reward_address)
    if not bls.verify(referee_key, message, theirs.payout_signature):
        raise Violation("CH-OPEN-3", "the payout signature is not the referee key's")
    if theirs.reward_address == reward_address:
        raise Violation("CH-OPEN-4", "the reward address is ours")
    if theirs.contributions != agreed.contributions or sum(theirs.contributions) == 0:
        raise Violation(
            "CH-OPEN-5", f"contributions {theirs.contributions}, agreed {agreed.contributions}"
        )
    if theirs.unroll_timeout != agreed.unroll_timeout:
        raise Violation(
            "CH-OPEN-6",
            f"an unroll timeout of {counted(theirs.unroll_timeout, 'block')},"
            f" agreed {agreed.unroll_timeout}",
        )
    times = (theirs.response_time, theirs.move_time)
    if times != (agreed.times.response, agreed.times.move):
        raise Violation(
            "CH-OPEN-12",
            f"response and move times of {times[0]} and {counted(times[1], 'block')},"
            f" agreed {agreed.times.response} and {agreed.times.move}",
        )
    least = least_unroll_timeout(agreed.confirmations, agreed.spacing)
    if theirs.unroll_timeout < least:
        raise Violation(
            "CH-OPEN-6",
            f"an unroll timeout of {counted(theirs.unroll_timeout, 'block')}, at least"
            f" {least}{by_spacing(agreed.spacing)}",
        )


def read_keys(
    theirs: Introduction, channel_key: bytes, proof: bytes, ours: PublicKeys
) -> PublicKeys:
    """Read the counterparty's three keys.

    Raises `Violation` if one is not a key or is used twice, or the channel key's proof is wrong.
    """
    keys = PublicKeys.read(channel_key, theirs.unroll_key, theirs.referee_key)
    if set(keys.all()) & set(ours.all()) or len(set(keys.all())) != 3:
        raise Violation("CH-OPEN-1", "two keys are the same")
    if not bls.verify(keys.channel, channel_key, proof):
        raise Violation("CH-OPEN-2", "the channel key's proof is not its signature")
    return keys
