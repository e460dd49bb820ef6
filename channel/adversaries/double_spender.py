"""It spends the coin that its part of the funding comes from."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.chain.coins import Bundle, condition, standard_message, standard_spend
from channel.chain.observations import Block
from channel.crypto import bls
from channel.peer.interface import Effect, Push
from channel.peer.machine import Phase
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
        """For as long as it may be in time."""
        if self.phase not in (Phase.OPENING, Phase.FUNDING):
            return []
        self.done = True
        return [self.double_spend()]

    def double_spend(self) -> Push:
        """The wallet's coin to the wallet, with a fee."""
        wallet, data = self.peer.config.wallet, self.peer.config.agg_sig_data
        back = condition(CREATE_COIN, wallet.coin.puzzle_hash, int_to_atom(wallet.coin.amount - 1))
        conditions = to_list((back,))
        signed = standard_message(conditions, wallet.coin.id, data)
        spend = standard_spend(wallet.coin, bytes(wallet.key.get_g1()), conditions)
        return Push("double spend", Bundle((spend,), bls.sign(wallet.key, signed)))


@register
class FundingRewinder(DoubleSpender):
    """The channel is funded, and a reorganisation makes it so that it never was."""

    name = "funding-rewinder"
    about = "replaces the blocks in which the channel was funded, and spends its part elsewhere"

    def act(self) -> list[Effect]:
        """Nothing before it is funded."""
        return []

    def block(self, block: Block) -> list[Effect]:
        """Once its blocks are gone, the other spend."""
        return [self.double_spend()] if self.done else []

    def last(self) -> list[Effect]:
        """As late as one reorganisation reaches, and at the latest possible moment."""
        channel = self.channel
        seen = self.plan.chain.coin(channel.coin.id) if channel else None
        if self.done or not self.due or seen is None:
            return []
        back = self.plan.chain.peak() - seen.born + 1
        late = back == self.peer.config.agreement.confirmations
        if (late or self.plan.chance.below(3) == 0) and self.plan.rewind(back):
            self.done = True
            return [self.double_spend()]
        return []
