"""Blocks that others fill at a price: both sides then pay fees, or wait."""

from __future__ import annotations

from channelsim.channel.attack.actions import Attack
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.simulation.crowd import CrowdedChain, CrowdSize

FILL = "fill"
"""The kind of action that lets others fill blocks."""

RATE = 10
"""The mojos per cost that others pay."""

MOST_FEE, MOST_FEES = 10_000_000_000, 200_000_000_000
"""The most that a side pays for a spend, and in all, in mojos: more than the others at any time."""


def filled_chain(chain: FarmableChain, attack: Attack) -> CrowdedChain | None:
    """The chain of a script in which others fill blocks; None for the others."""
    blocks = [1 + action.amount for action in attack.actions if action.kind == FILL]
    if not blocks:
        return None
    size = CrowdSize(RATE, sum(blocks))
    return CrowdedChain(chain, derive(attack.seed.encode(), "crowd"), size)
