"""Adversaries that claim, slash or pin game coins that are not theirs to take."""

from __future__ import annotations

from typing import ClassVar

from channelsim.channel.adversaries.base import Plan, adversary
from channelsim.channel.adversaries.on_chain import OnChainCheat, near_timeout
from channelsim.channel.adversaries.pins import MOST_COST, pinned
from channelsim.channel.chain.coins import Bundle, Coin, Spend, joined
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.game_spends import claim_bundle, slash_bundle
from channelsim.channel.protocol.half_signed import time_out, unroll_coin
from channelsim.clsp.values import serialize, to_list
from channelsim.games import registry
from channelsim.games.evidence import Candidate, as_evidence
from channelsim.games.referee import timeout_solution

CLAIM_COST = 100_000_000
"""More than the claim of a game costs."""


@adversary("claimer", "claims with every block, so as to be in at exactly the timeout")
class _Claimer(OnChainCheat):
    needs_game = False

    def last(self) -> list[Effect]:
        """Claim every unspent coin: a move or preemption that comes late finds that pending."""
        dispute = self.dispute
        if dispute is None:
            return []
        effects: list[Effect] = []
        for link in self.peer.play.history:
            if self._claimable(unroll_coin(self.channel, link.state), self.channel.unroll_timeout):
                effects.append(Push("timeout", time_out(self.channel, link.state)))
        for tracked in dispute.tracked.values():
            if self._claimable(tracked.coin, tracked.game.coin.timeout):
                effects.append(
                    Push("claim", claim_bundle(self.channel, tracked.coin, tracked.game))
                )
        self.done = self.done or bool(effects)
        return effects

    def _claimable(self, coin: Coin, timeout: int) -> bool:
        seen = self.plan.chain.coin(coin.id)
        if seen is None or seen.spent is not None:
            return False
        return near_timeout(self.plan.chain.peak() - seen.born, timeout)


@adversary("payout-thief", "claims the other side's share too, and too early")
class _PayoutThief(OnChainCheat):
    def cheat(self, block: Block) -> list[Effect]:
        """Claim with its own address on both sides; slash its own moves."""
        effects: list[Effect] = []
        own, other = self.channel.rewards[self.side], self.channel.rewards[self.side.other]
        for tracked, age in self.unspent_games(block):
            if not near_timeout(age, tracked.game.coin.timeout):
                continue
            self.done = True
            coin = tracked.game.coin
            puzzle = coin.puzzle().serialized
            signatures = [self.channel.payout_signatures[self.side]] * 2
            for addresses in ((own, own), (own, other), (other, own)):
                solution = serialize(timeout_solution(coin, *addresses))
                spend = Spend(tracked.coin, puzzle, solution)
                effects.append(Push("theft", Bundle((spend,), bls.add(*signatures))))
            slash = serialize(to_list((b"", (b"\x01", b""), b"", own)))
            bundle = Bundle((Spend(tracked.coin, puzzle, slash),), signatures[0])
            effects.append(Push("theft", bundle))
        return effects


@adversary("evidence-forger", "tries to slash legal moves with evidence of all kinds")
class _EvidenceForger(OnChainCheat):
    def cheat(self, block: Block) -> list[Effect]:
        """A few pieces of evidence with each block, for every coin on which it is the mover."""
        effects: list[Effect] = []
        for tracked, _ in self.unspent_games(block):
            before = tracked.game.before
            if tracked.game.mover is not self.side or before is None:
                continue
            if before.position.state is None or before.position.validator is None:
                continue
            self.done = True
            program = registry.get(tracked.game.terms.game).programs[before.position.validator]
            state = before.position.state.value()
            guesses = [bytes([self.plan.chance.below(256)]) for _ in range(4)]
            tried: list[Candidate] = [b"", (b"", b""), self.plan.chance.bytes(40), *guesses]
            if tracked.player is not None:
                held = tracked.player.evidence(before.position, tracked.game.coin.move)
                tried += [one for one in map(as_evidence, held) if bls.signature(one.signature)]
            for evidence in map(as_evidence, tried):
                bundle = slash_bundle(
                    *(self.channel, tracked.coin, tracked.game, state, program),
                    evidence,
                )
                effects.append(Push("forged", bundle))
        return effects


class Pinner(OnChainCheat):
    """Pins the other side's spends, each with a spend of its own of up to this `cost`."""

    needs_game = False
    cost: ClassVar[int] = 0

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._seen = Block(0)

    def cheat(self, block: Block) -> list[Effect]:
        """Claim games at their timeout, which needs no signature, before the other side does."""
        self._seen = block
        payer = self._payer()
        due = [
            tracked
            for tracked, age in self.unspent_games(block)
            if age >= tracked.game.coin.timeout
        ]
        if payer is None or not due:
            return []
        self.done = True
        claim = claim_bundle(self.channel, due[0].coin, due[0].game)
        key, data = self.peer.config.wallet.key, self.channel.agg_sig_data
        cost = min(self.cost, MOST_COST - CLAIM_COST)
        return [Push("pin", joined(claim, padded_spend(key, payer, 1, cost, data)))]

    def last(self) -> list[Effect]:
        """Take every pending bundle of the other side into one of its own."""
        effects: list[Effect] = []
        for seen in self._seen.coins:
            if seen.spent is not None or seen.coin == self.peer.config.wallet.coin:
                continue
            for pending in self.plan.chain.pending(seen.coin.id):
                payer = self._payer()
                if payer is None or payer in {spend.coin for spend in pending.bundle.spends}:
                    continue
                key, data = self.peer.config.wallet.key, self.channel.agg_sig_data
                pin = pinned(pending, key, payer, self.cost, data)
                if pin is not None:
                    self.done = True
                    effects.append(Push("pin", pin))
        return effects

    def _payer(self) -> Coin | None:
        """The largest coin of its wallet that holds money."""
        seen = self.plan.chain.coins_at(self.peer.config.wallet.coin.puzzle_hash)
        coins = [one.coin for one in seen if one.coin.amount]
        return max(coins, key=lambda coin: coin.amount, default=None)


for _name, _about, _cost in (
    ("pinner", "bundles the other side's spends with a coin of its own, at a low fee", 0),
    ("heavy-pinner", "does so with a spend that makes the bundle cost half a block", MOST_COST),
):
    adversary(_name, _about)(type(_name, (Pinner,), {"cost": _cost}))
