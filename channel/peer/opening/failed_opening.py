"""A failed opening: how long a reorganisation can still bring its funding in.

Source: spec/channel.md, "Opening".
"""

from __future__ import annotations

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.opening.handshake import Opened


def can_be_funded(opened: Opened | None, block: Block, confirmations: int) -> bool:
    """True while a reorganisation of `confirmations` blocks can still make the channel coin.

    Not once this block is so far above the deadline, or a wallet coin was spent so deep without
    making the channel coin. The block has no channel coin.
    """
    if opened is None or block.peak >= opened.deadline + confirmations:
        return False
    wallet_coins = set(opened.wallet_coins)
    return not any(
        seen.spent is not None and block.peak - seen.spent >= confirmations
        for seen in block.coins
        if seen.coin in wallet_coins
    )
