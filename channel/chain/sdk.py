"""Our coins and bundles as the values of the wallet SDK, which both kinds of nodes speak."""

from __future__ import annotations

from chia_wallet_sdk import Coin as NodeCoin
from chia_wallet_sdk import CoinSpend, Signature, SpendBundle

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.interface import Answer

ANSWERS = {
    "DoubleSpend": Answer.ALREADY_SPENT,
    "MempoolConflict": Answer.PENDING_CONFLICT,
}
"""The refusals of a bundle that is pending or mined already, or in the way of another."""


def to_node(bundle: Bundle) -> SpendBundle:
    """The bundle as a node takes it."""
    spends = [
        CoinSpend(
            NodeCoin(spend.coin.parent, spend.coin.puzzle_hash, spend.coin.amount),
            spend.puzzle,
            spend.solution,
        )
        for spend in bundle.spends
    ]
    return SpendBundle(spends, Signature.from_bytes(bundle.signature))


def from_node(bundle: SpendBundle) -> Bundle:
    """A bundle as a node gives it."""
    spends = tuple(
        Spend(coin_of(spend.coin), bytes(spend.puzzle_reveal), bytes(spend.solution))
        for spend in bundle.coin_spends
    )
    return Bundle(spends, bytes(bundle.aggregated_signature.to_bytes()))


def coin_of(coin: NodeCoin) -> Coin:
    """A coin as a node gives it."""
    return Coin(bytes(coin.parent_coin_info), bytes(coin.puzzle_hash), int(coin.amount))
