"""A failed opening: how long a reorganisation can still bring its funding in.

Source: spec/channel.md, "Opening".
"""

from __future__ import annotations

from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.opening.handshake import Opened


def watched_until(opened: Opened, agreement: Agreement) -> int:
    """The height up to which a failed opening is watched.

    The first block with transactions from the deadline on can still have the funding, and a
    reorganisation of `confirmations` blocks can replace it.
    """
    return opened.deadline + agreement.spacing * agreement.confirmations


def can_be_funded(opened: Opened | None, block: Block, agreement: Agreement) -> bool:
    """True while the channel coin can still be made after the deadline.

    Not once this block is far above the deadline, or a wallet coin was spent `confirmations` deep
    without making the channel coin. The block has no channel coin.
    """
    if opened is None or block.peak >= watched_until(opened, agreement):
        return False
    wallet_coins = set(opened.wallet_coins)
    return not any(
        seen.spent is not None and block.peak - seen.spent >= agreement.confirmations
        for seen in block.coins
        if seen.coin in wallet_coins
    )
