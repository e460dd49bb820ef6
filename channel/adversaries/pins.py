"""Pins: a pending bundle of another side, joined with a costly spend of one's own at a low rate.

Mempools take a pin in the place of the bundle: it spends the same coins, pays more, and pays a
little more per cost. Whoever wants the spends in a block pays for the cost of the pin as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chia_rs import PrivateKey

from channelsim.channel.adversaries.base import variant
from channelsim.channel.adversaries.on_chain import OnChainCheat
from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import Block, PendingBundle
from channelsim.channel.chain.padding import BARE_COST, padded_spend
from channelsim.channel.peer.interface import Effect, Push

MOST_COST = BLOCK_COST // 2
"""The most that a bundle may cost, on public networks."""

CLAIM_COST = 100_000_000
"""More than the claim of a game costs."""


def pin_cost(pending: PendingBundle, most: int) -> int:
    """The cost of the own spend of a pin: as much as may be, up to `most`."""
    return max(BARE_COST, min(most, MOST_COST - pending.cost))


def pin_fee(pending: PendingBundle, cost: int) -> int:
    """The least fee of an own spend of this cost with which the pin replaces the bundle.

    >>> pin_fee(PendingBundle(Bundle((), b""), 0, 30_000_000), 5 * 10**9)
    10000000
    >>> pin_fee(PendingBundle(Bundle((), b""), 60_000_000, 30_000_000), 5 * 10**9)
    10000000001
    """
    return max(LEAST_RAISE, pending.fee * cost // pending.cost + 1)


def pinned(
    pending: PendingBundle, key: PrivateKey, payer: Coin, cost: int, agg_sig_data: bytes
) -> Bundle | None:
    """The pin of a bundle by a coin at this key's address; None if the coin cannot pay for it."""
    cost = pin_cost(pending, cost)
    fee = pin_fee(pending, cost)
    if fee >= payer.amount:
        return None
    return joined(pending.bundle, padded_spend(key, payer, fee, cost, agg_sig_data))


class Pinner(OnChainCheat):
    """Pins the other side's spends, each with a spend of its own of up to this `cost`."""

    needs_game = False
    cost: ClassVar[int] = 0

    def cheat(self, block: Block) -> Iterator[Effect]:
        """Claim games at their timeout, which needs no signature, before the other side does."""
        payer = self._payer()
        due = [
            tracked
            for tracked, age in self.unspent_games(block)
            if age >= tracked.game.coin.timeout
        ]
        if payer is None or not due:
            return
        self.done = True
        key, data = self.peer.config.wallet.key, self.channel.agg_sig_data
        padding = padded_spend(key, payer, 1, min(self.cost, MOST_COST - CLAIM_COST), data)
        yield Push("pin", joined(self.claim(due[0]).bundle, padding))

    def last(self) -> list[Effect]:
        """Take every pending bundle of the other side into one of its own."""
        effects: list[Effect] = []
        wallet = self.peer.config.wallet
        for seen in self.seen.coins:
            if seen.spent is not None or seen.coin == wallet.coin:
                continue
            for pending in self.plan.chain.pending(seen.coin.id):
                payer = self._payer()
                if payer is None or payer in {spend.coin for spend in pending.bundle.spends}:
                    continue
                pin = pinned(pending, wallet.key, payer, self.cost, self.channel.agg_sig_data)
                if pin is not None:
                    self.done = True
                    effects.append(Push("pin", pin))
        return effects

    def _payer(self) -> Coin | None:
        """The largest coin of its wallet; None if none holds money."""
        seen = self.plan.chain.coins_at(self.peer.config.wallet.coin.puzzle_hash)
        coins = [payer.coin for payer in seen if payer.coin.amount]
        return max(coins, key=lambda coin: coin.amount, default=None)


for _name, _about, _cost in (
    ("pinner", "bundles the other side's spends with a coin of its own, at a low fee", 0),
    ("heavy-pinner", "does so with a spend that makes the bundle cost half a block", MOST_COST),
):
    variant(Pinner, _name, _about, cost=_cost)
