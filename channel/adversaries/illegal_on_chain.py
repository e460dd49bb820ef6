"""Illegal moves on chain, where no receiver looks first."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import register
from channel.adversaries.onchain_base import OnChain
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.protocol.game_spends import move_bundle


@register
class IllegalOnChain(OnChain):
    """It changes its moves on chain: the commitment, the share, the size, or the bytes."""

    name = "illegal-on-chain"
    about = "makes illegal moves on chain"

    def push(self, push: Push) -> list[Effect]:
        """Nothing that is a move; those are made wrongly below."""
        return [] if push.name in ("move", "redo") else [push]

    def cheat(self, block: Block) -> list[Effect]:
        """One wrong move, wherever one is due."""
        effects: list[Effect] = []
        dispute = self.peer._dispute
        for spot, age in self.tips(block):
            game, chance = spot.game, self.plan.chance
            if dispute is None or game.mover is not self.peer.config.side:
                continue
            after = dispute.records.sent_from(game) or dispute.decided.get(game.coin)
            if after is None or age >= game.coin.timeout:
                continue
            good = after.coin
            kind = chance.below(4)
            if kind == 0:
                bad = msgspec.structs.replace(good, infohash_b=chance.bytes(32))
            elif kind == 1 and good.mover_share:
                bad = msgspec.structs.replace(good, mover_share=chance.below(good.mover_share))
            elif kind == 2 and good.move:
                bad = msgspec.structs.replace(good, move=chance.bytes(len(good.move)))
            else:
                bad = msgspec.structs.replace(good, max_move_size=good.max_move_size + 1)
            self.done = True
            bundle = move_bundle(self._channel(), self.keys, spot.coin, game.coin, bad)
            effects.append(Push("illegal", bundle))
        return effects
