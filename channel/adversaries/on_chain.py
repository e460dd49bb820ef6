"""Adversaries that go on chain: early, or to move late or illegally there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.chain.coins import Bundle, Spend
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import Effect, GoOnChain, Push
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin
from channelsim.channel.protocol.game_spends import move_bundle
from channelsim.channel.protocol.state import LiveGame
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import Value, serialize, to_list, tree_hash

LEAVES = GoOnChain("it wants to")


@adversary("leaver", "goes on chain at any moment, and plays on there by the rules")
class _Leaver(Adversary):
    def act(self) -> list[Effect]:
        effects = None if self.done else self.command(LEAVES)
        self.done = effects is not None
        return effects or []


class OnChainCheat(Adversary):
    """Goes on chain from its step on, and deviates there.

    `needs_game`: it waits until a game is live, because it deviates with game coins.
    """

    at_once = False
    needs_game: ClassVar[bool] = True

    def act(self) -> list[Effect]:
        """Go on chain as soon as possible."""
        if self.dispute is not None or not self.is_open:
            return []
        if self.needs_game and not self.peer.play.newest.state.games:
            return []
        return self.command(LEAVES) or []

    def block(self, block: Block) -> list[Effect]:
        """Deviate with every block."""
        return self.cheat(block) if self.due and self.dispute is not None else []

    def cheat(self, block: Block) -> list[Effect]:
        """The spends to push with this block."""
        return []

    def unspent_games(self, block: Block) -> Iterator[tuple[TrackedCoin, int]]:
        """The unspent game coins, with their ages in blocks."""
        for tracked, seen in self.game_coins(block):
            if seen.spent is None:
                yield tracked, block.peak - seen.born

    def game_coins(self, block: Block) -> Iterator[tuple[TrackedCoin, CoinSeen]]:
        """The game coins on chain, spent or not."""
        seen = {one.coin.id: one for one in block.coins}
        for tracked in self.dispute.tracked.values() if self.dispute else ():
            if tracked.coin.id in seen:
                yield tracked, seen[tracked.coin.id]

    def own_move(self, game: LiveGame) -> LiveGame | None:
        """The game after the move that its peer sent or chose; None without such a move."""
        dispute = self.dispute
        if dispute is None or game.mover is not self.side:
            return None
        return dispute.signed_games.sent_from(game) or dispute.decided.get(game.coin)


def near_timeout(age: int, timeout: int) -> bool:
    """True if a coin is so young, or so close to its timeout, that a claim is worth a try."""
    return age < 2 or age >= timeout - 2


def is_move(push: Push) -> bool:
    """True if a peer pushes a move of a game coin."""
    return push.name in ("move", "redo")


# --- moves at the wrong time ---------------------------------------------------------------------


class LateMover(OnChainCheat):
    """Holds its moves back until `late` blocks after the timeouts of their coins."""

    late = 0

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._held: dict[bytes, Push] = {}

    def push(self, push: Push) -> list[Effect]:
        """Hold moves back."""
        if not is_move(push):
            return [push]
        self._held[push.bundle.spends[0].coin.id] = push
        return []

    def cheat(self, block: Block) -> list[Effect]:
        """Push the moves whose coins are old enough."""
        effects: list[Effect] = []
        for tracked, age in self.unspent_games(block):
            held = self._held.get(tracked.coin.id)
            if held is not None and age >= tracked.game.coin.timeout + self.late:
                self.done = True
                effects.append(held)
        return effects


for _name, _about, _late in (
    ("late-mover-2", "moves one block before the last one in which its move can be", -2),
    ("late-mover-1", "moves in the last block in which its move can be", -1),
    ("late-mover", "moves one block too late", 0),
):
    adversary(_name, _about)(type(_name, (LateMover,), {"late": _late}))


# --- moves that are wrong ------------------------------------------------------------------------


@adversary("illegal-on-chain", "makes illegal moves on chain")
class _IllegalMover(OnChainCheat):
    def push(self, push: Push) -> list[Effect]:
        return [] if is_move(push) else [push]

    def cheat(self, block: Block) -> list[Effect]:
        """One wrong move wherever one is due."""
        effects: list[Effect] = []
        for tracked, age in self.unspent_games(block):
            game, chance, after = tracked.game, self.plan.chance, self.own_move(tracked.game)
            if after is None or age >= game.coin.timeout:
                continue
            good, kind = after.coin, chance.below(4)
            if kind == 0:
                bad = replace(good, infohash_b=chance.bytes(32))
            elif kind == 1 and good.mover_share:
                bad = replace(good, mover_share=chance.below(good.mover_share))
            elif kind == 2 and good.move:
                bad = replace(good, move=chance.bytes(len(good.move)))
            else:
                bad = replace(good, max_move_size=good.max_move_size + 1)
            self.done = True
            bundle = move_bundle(self.channel, self.keys, tracked.coin, game.coin, bad)
            effects.append(Push("illegal", bundle))
        return effects


@adversary(
    "non-minimal-on-chain", "moves on chain with numbers in more bytes, or with more arguments"
)
class _NonMinimalMover(OnChainCheat):
    # Two solutions that mean the same would make two coins, of which one is unknown.

    def push(self, push: Push) -> list[Effect]:
        return [] if is_move(push) else [push]

    def cheat(self, block: Block) -> list[Effect]:
        """Its move, wherever one is due, in several encodings."""
        effects: list[Effect] = []
        for tracked, _ in self.unspent_games(block):
            after = self.own_move(tracked.game)
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
                message = tree_hash(solution) + tracked.coin.id + self.channel.agg_sig_data
                spend = Spend(
                    tracked.coin, tracked.game.coin.puzzle().serialized, serialize(solution)
                )
                bundle = Bundle((spend,), bls.sign(self.keys.referee, message))
                effects.append(Push("longer", bundle))
        return effects
