"""It spends the coin that its part of the funding comes from."""

from __future__ import annotations

from channel import bls
from channel.adversaries.base import Adversary, register
from channel.coins import Bundle, condition, standard_message, standard_spend
from channel.events import Effect, Push
from channel.peer import Phase
from clsp.integers import int_to_atom
from clsp.values import to_list
from games.referee import CREATE_COIN


@register
class DoubleSpender(Adversary):
    """Every signature of the opening is right, and the bundle can never get in."""

    name = "double-spender"
    about = "spends its own part of the funding elsewhere before the channel is open"
    default_step = 0

    def act(self) -> list[Effect]:
        """The wallet's coin to the wallet, with a fee, for as long as it may be in time."""
        if self.phase not in (Phase.OPENING, Phase.FUNDING):
            return []
        wallet, data = self.peer.config.wallet, self.peer.config.agg_sig_data
        back = condition(CREATE_COIN, wallet.coin.puzzle_hash, int_to_atom(wallet.coin.amount - 1))
        conditions = to_list((back,))
        signed = standard_message(conditions, wallet.coin.id, data)
        spend = standard_spend(wallet.coin, bytes(wallet.key.get_g1()), conditions)
        self.done = True
        return [Push("double spend", Bundle((spend,), bls.sign(wallet.key, signed)))]
