"""It takes the other side's spends from the mempool into bundles of its own."""

from __future__ import annotations

from channel.adversaries.base import Plan, register
from channel.adversaries.onchain_base import OnChain
from channel.chain.coins import Bundle, Coin, condition, standard_message, standard_spend
from channel.chain.observations import Block
from channel.crypto import bls
from channel.peer.interface import Effect, Push
from channel.peer.machine import Peer
from clsp.integers import int_to_atom
from clsp.values import to_list
from games.referee import CREATE_COIN


@register
class Pinner(OnChain):
    """Every spend of the other side lies in a bundle with a coin of the thief's, at a low fee."""

    name = "pinner"
    about = "bundles the other side's spends with a coin of its own, at a low fee"
    needs_game = False

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._picture = Block(0)

    def cheat(self, block: Block) -> list[Effect]:
        """Look at what there is."""
        self._picture = block
        return []

    def last(self) -> list[Effect]:
        """Whatever is pending by now and not its own."""
        effects: list[Effect] = []
        for seen in self._picture.coins:
            if seen.spent is not None or seen.coin == self.peer.config.wallet.coin:
                continue
            for other in self.plan.chain.pending(seen.coin.id):
                purse = self._purse()
                if purse is None or purse in {spend.coin for spend in other.spends}:
                    continue
                self.done = True
                effects.append(Push("pin", self._joined(other, purse)))
        return effects

    def _purse(self) -> Coin | None:
        coins = self.plan.chain.coins_at(self.peer.config.wallet.coin.puzzle_hash)
        return max((seen.coin for seen in coins), key=lambda coin: coin.amount, default=None)

    def _joined(self, other: Bundle, purse: Coin) -> Bundle:
        key = self.peer.config.wallet.key
        change = condition(CREATE_COIN, purse.puzzle_hash, int_to_atom(purse.amount - 1))
        conditions = to_list((change,))
        message = standard_message(conditions, purse.id, self._channel().agg_sig_data)
        spend = standard_spend(purse, bytes(key.get_g1()), conditions)
        signature = bls.add(other.signature, bls.sign(key, message))
        return Bundle((*other.spends, spend), signature)
