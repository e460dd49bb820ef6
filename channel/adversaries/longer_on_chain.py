"""Moves on chain whose numbers are longer than they have to be, and solutions with more items."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.onchain_base import OnChain
from channel.chain.coins import Bundle, Spend
from channel.chain.observations import Block
from channel.crypto import bls
from channel.peer.interface import Effect, Push
from clsp.integers import int_to_atom
from clsp.values import Value, serialize, to_list, tree_hash


@register
class LongerOnChain(OnChain):
    """Two solutions that mean the same would make two coins of which one is unknown."""

    name = "non-minimal-on-chain"
    about = "moves on chain with shares and sizes in more bytes than they need"

    def push(self, push: Push) -> list[Effect]:
        """Nothing that is a move; those are made below, in vain."""
        return [] if push.name in ("move", "redo") else [push]

    def cheat(self, block: Block) -> list[Effect]:
        """Its move, wherever one is due, in several spellings."""
        dispute = self.peer._dispute
        effects: list[Effect] = []
        for spot, _ in self.tips(block):
            game = spot.game
            if dispute is None or game.mover is not self.peer.config.side:
                continue
            after = dispute.records.sent_from(game) or dispute.decided.get(game.coin)
            if after is None:
                continue
            self.done = True
            coin = after.coin
            share, size = int_to_atom(coin.mover_share), int_to_atom(coin.max_move_size)
            zero = bytes(1)
            items: tuple[tuple[Value, ...], ...] = (
                (coin.move, coin.infohash_b, zero + share, size),
                (coin.move, coin.infohash_b, share, zero + size),
                (coin.move, coin.infohash_b or zero, share, zero),
                (coin.move, coin.infohash_b, share, size, b""),
            )
            for solution in map(to_list, items):
                channel = self._channel()
                message = tree_hash(solution) + spot.coin.id + channel.agg_sig_data
                spend = Spend(spot.coin, game.coin.puzzle().serialized, serialize(solution))
                bundle = Bundle((spend,), bls.sign(self.keys.referee, message))
                effects.append(Push("longer", bundle))
        return effects
