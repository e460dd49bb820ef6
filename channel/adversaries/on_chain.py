"""Adversaries that go on chain, and move late or illegally there, or claim what is not theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, Plan, adversary, variant
from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import Effect, GoOnChain, Push
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.lineage import TrackedCoin
from channelsim.channel.protocol.game_spends import claim_bundle, move_bundle, slash_bundle
from channelsim.channel.protocol.half_signed import time_out, unroll_coin
from channelsim.channel.protocol.state import LiveGame
from channelsim.clsp.values import Value, int_to_atom, serialize, to_list, tree_hash
from channelsim.games import registry
from channelsim.games.evidence import Candidate, as_evidence
from channelsim.games.referee import GameCoin, timeout_solution

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
    seen = Block(0)
    """The last block with which it could deviate."""

    def act(self) -> list[Effect]:
        """Go on chain as soon as possible."""
        if self.dispute is not None or not self.is_open:
            return []
        if self.needs_game and not self.peer.play.newest.state.games:
            return []
        return self.command(LEAVES) or []

    def block(self, block: Block) -> list[Effect]:
        """Deviate with every block."""
        if not self.due or self.dispute is None:
            return []
        self.seen = block
        return [*self.cheat(block)]

    def cheat(self, block: Block) -> Iterator[Effect]:
        """The spends to push with this block."""
        return iter(())

    def unspent_games(self, block: Block) -> Iterator[tuple[TrackedCoin, int]]:
        """The unspent game coins, with their ages in blocks."""
        for tracked, seen in self.game_coins(block):
            if seen.spent is None:
                yield tracked, block.peak - seen.born

    def game_coins(self, block: Block) -> Iterator[tuple[TrackedCoin, CoinSeen]]:
        """The game coins on chain, spent or not."""
        coins = {seen.coin.id: seen for seen in block.coins}
        for tracked in self.dispute.tracked.values() if self.dispute else ():
            if tracked.coin.id in coins:
                yield tracked, coins[tracked.coin.id]

    def claim(self, tracked: TrackedCoin) -> Push:
        """The claim of a game coin, at its timeout or not."""
        return Push("claim", claim_bundle(self.channel, tracked.coin, tracked.game))

    def move(self, name: str, tracked: TrackedCoin, after: GameCoin) -> Push:
        """A move of a game coin to this one, whether it is legal or not."""
        coin = tracked.game.coin
        return Push(name, move_bundle(self.channel, self.keys, tracked.coin, coin, after))

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
        self._moves: dict[bytes, Push] = {}

    def push(self, push: Push) -> list[Effect]:
        """Hold moves back."""
        if not is_move(push):
            return [push]
        self._moves[push.bundle.spends[0].coin.id] = push
        return []

    def cheat(self, block: Block) -> Iterator[Effect]:
        """Push the moves whose coins are old enough."""
        for tracked, age in self.unspent_games(block):
            move = self._moves.get(tracked.coin.id)
            if move is not None and age >= tracked.game.coin.timeout + self.late:
                self.done = True
                yield move


for _name, _about, _late in (
    ("late-mover-2", "moves one block before the last one in which its move can be", -2),
    ("late-mover-1", "moves in the last block in which its move can be", -1),
    ("late-mover", "moves one block too late", 0),
):
    variant(LateMover, _name, _about, late=_late)


# --- moves that are wrong ------------------------------------------------------------------------


class WrongMover(OnChainCheat):
    """Makes other moves on chain than its peer."""

    def push(self, push: Push) -> list[Effect]:
        """All but the moves of its peer."""
        return [] if is_move(push) else [push]

    def cheat(self, block: Block) -> Iterator[Effect]:
        """Wrong moves wherever one is due."""
        for tracked, age in self.unspent_games(block):
            after = self.own_move(tracked.game)
            for effect in self.moves(tracked, after.coin, age) if after is not None else ():
                self.done = True
                yield effect

    def moves(self, tracked: TrackedCoin, after: GameCoin, age: int) -> Iterator[Effect]:
        """The spends to push in place of the move to this coin; `age` is in blocks."""
        return iter(())


@adversary("illegal-on-chain", "makes illegal moves on chain")
class _IllegalMover(WrongMover):
    def moves(self, tracked: TrackedCoin, after: GameCoin, age: int) -> Iterator[Effect]:
        if age >= tracked.game.coin.timeout:
            return
        chance = self.plan.chance
        kind = chance.below(4)
        if kind == 0:
            bad = replace(after, infohash_b=chance.bytes(32))
        elif kind == 1 and after.mover_share:
            bad = replace(after, mover_share=chance.below(after.mover_share))
        elif kind == 2 and after.move:
            bad = replace(after, move=chance.bytes(len(after.move)))
        else:
            bad = replace(after, max_move_size=after.max_move_size + 1)
        yield self.move("illegal", tracked, bad)


@adversary("overclaims-on-chain", "takes the other side's share with a game's last move on chain")
class _Overclaimer(WrongMover):
    # The program alone often allows it: only the other side's evidence shows that it is wrong.

    def cheat(self, block: Block) -> Iterator[Effect]:
        """The moves of its peer, but for the share in the last one."""
        for tracked, age in self.unspent_games(block):
            after = self.own_move(tracked.game)
            if after is None or age >= tracked.game.coin.timeout:
                continue
            claims = not after.coin.infohash_b and after.coin.mover_share > 0
            self.done = self.done or claims
            coin = replace(after.coin, mover_share=0) if claims else after.coin
            yield self.move("illegal" if claims else "move", tracked, coin)


@adversary(
    "non-minimal-on-chain", "moves on chain with numbers in more bytes, or with more arguments"
)
class _NonMinimalMover(WrongMover):
    # Two solutions that mean the same would make two coins, of which one is unknown.

    def moves(self, tracked: TrackedCoin, after: GameCoin, age: int) -> Iterator[Effect]:
        share, size = int_to_atom(after.mover_share), int_to_atom(after.max_move_size)
        puzzle, zero = tracked.game.coin.puzzle().serialized, bytes(1)
        solutions: tuple[tuple[Value, ...], ...] = (
            (after.move, after.infohash_b, zero + share, size),
            (after.move, after.infohash_b, share, zero + size),
            (after.move, after.infohash_b or zero, share, zero),
            (after.move, after.infohash_b, share, size, b""),
        )
        for solution in map(to_list, solutions):
            message = tree_hash(solution) + tracked.coin.id + self.channel.agg_sig_data
            spend = Spend(tracked.coin, puzzle, serialize(solution))
            yield Push("longer", Bundle((spend,), bls.sign(self.keys.referee, message)))


# --- claims and slashes --------------------------------------------------------------------------


@adversary("claimer", "claims with every block, so as to be in at exactly the timeout")
class _Claimer(OnChainCheat):
    needs_game = False

    def last(self) -> list[Effect]:
        """Claim every unspent coin: a move or preemption that comes late finds that pending."""
        dispute = self.dispute
        if dispute is None:
            return []
        effects = [
            Push("timeout", time_out(self.channel, link.state))
            for link in self.peer.play.history
            if self._claimable(unroll_coin(self.channel, link.state), self.channel.unroll_timeout)
        ]
        effects += [
            self.claim(tracked)
            for tracked in dispute.tracked.values()
            if self._claimable(tracked.coin, tracked.game.coin.timeout)
        ]
        self.done = bool(effects)
        return [*effects]

    def _claimable(self, coin: Coin, timeout: int) -> bool:
        seen = self.plan.chain.coin(coin.id)
        if seen is None or seen.spent is not None:
            return False
        return near_timeout(self.plan.chain.peak() - seen.born, timeout)


@adversary("payout-thief", "claims the other side's share too, and too early")
class _PayoutThief(OnChainCheat):
    def cheat(self, block: Block) -> Iterator[Effect]:
        """Claim with its own address on both sides; slash its own moves."""
        own, other = self.channel.rewards[self.side], self.channel.rewards[self.side.other]
        signature = self.channel.payout_signatures[self.side]
        for tracked, age in self.unspent_games(block):
            coin = tracked.game.coin
            if not near_timeout(age, coin.timeout):
                continue
            self.done = True
            claims = [
                (timeout_solution(coin, *addresses), bls.add(signature, signature))
                for addresses in ((own, own), (own, other), (other, own))
            ]
            slash = to_list((b"", (b"\x01", b""), b"", own))
            for solution, signed in (*claims, (slash, signature)):
                spend = Spend(tracked.coin, coin.puzzle().serialized, serialize(solution))
                yield Push("theft", Bundle((spend,), signed))


@adversary("evidence-forger", "tries to slash legal moves with evidence of all kinds")
class _EvidenceForger(OnChainCheat):
    def cheat(self, block: Block) -> Iterator[Effect]:
        """A few pieces of evidence with each block, for every coin on which it is the mover."""
        chance = self.plan.chance
        for tracked, _ in self.unspent_games(block):
            game, before = tracked.game, tracked.game.before
            if game.mover is not self.side or before is None:
                continue
            position = before.position
            if position.state is None or position.validator is None:
                continue
            self.done = True
            program = registry.get(game.terms.game).programs[position.validator]
            guesses = [bytes([chance.below(256)]) for _ in range(4)]
            candidates: list[Candidate] = [b"", (b"", b""), chance.bytes(40), *guesses]
            if tracked.player is not None:
                known = map(as_evidence, tracked.player.evidence(position, game.coin.move))
                candidates += [proof for proof in known if bls.signature(proof.signature)]
            slashed = self.channel, tracked.coin, game, position.state.value(), program
            for evidence in map(as_evidence, candidates):
                yield Push("forged", slash_bundle(*slashed, evidence))
