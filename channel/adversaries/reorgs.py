"""Adversaries that replace blocks to take spends back."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary, Plan, adversary
from channelsim.channel.adversaries.on_chain import OnChainCheat, near_timeout
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.lineage import TrackedCoin
from channelsim.channel.protocol.half_signed import time_out, unroll_coin
from channelsim.channel.protocol.state import LiveGame
from channelsim.games.contract import Action, Amount, Choice, Forced, OneOf, Plain
from channelsim.games.referee import GameCoin


@adversary("rewinder", "publishes a stale state, and replaces the blocks that preempted it")
class _Rewinder(OnChainCheat):
    needs_game = False

    def act(self) -> list[Effect]:
        """Go on chain with the oldest state."""
        effects = super().act()
        if not effects or self.dispute is None or not self.completable():
            return effects
        return [Push("stale", self.publishes(self.completable()[0])), *effects]

    def cheat(self, block: Block) -> Iterator[Effect]:
        """Claim whatever is unspent: after a reorganisation one of these may come first."""
        oldest = self.completable()[0].state
        unroll, timeout = unroll_coin(self.channel, oldest), self.channel.unroll_timeout
        born = [seen.born for seen in block.coins if seen.coin == unroll]
        if born and near_timeout(block.peak - born[0], timeout):
            yield Push("timeout", time_out(self.channel, oldest))
        for tracked, age in self.unspent_games(block):
            if near_timeout(age, tracked.game.coin.timeout):
                yield self.claim(tracked)

    def last(self) -> list[Effect]:
        """Rewind as far as it can, if something was spent within that depth."""
        reach = self.peer.config.agreement.confirmations
        fresh = any(
            coin.spent is not None and self.seen.peak - coin.spent < reach
            for coin in self.seen.coins
        )
        if fresh and self.plan.chance.below(3) == 0 and self.rewind(reach):
            self.done = True
        return []


@adversary("resurrector", "replaces the blocks of the shutdown, and publishes a stale state")
class _Resurrector(Adversary):
    at_once = False

    def push(self, push: Push) -> list[Effect]:
        # After its reorganisation, not the shutdown again.
        return [] if self.done and push.name == "shutdown" else [push]

    def block(self, block: Block) -> list[Effect]:
        return self._stale() if self.done else []

    def last(self) -> list[Effect]:
        """Rewind at a random moment, at the latest when the shutdown is about to be too deep."""
        coin = self.channel_coin()
        if self.done or not self.due or coin is None or coin.spent is None:
            return []
        if self.dispute is not None or not self.rewind_to(coin.spent):
            return []
        self.done = True
        return self._stale()

    def _stale(self) -> list[Effect]:
        states = self.completable()
        return [Push("stale", self.publishes(states[0]))] if states else []


@adversary("answers-again", "takes its move back by a reorganisation, and makes another one")
class _AnswersAgain(OnChainCheat):
    """Waits for the answer as long as it may before it replaces the blocks, answer and all."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._others: dict[GameCoin, LiveGame] = {}
        """The moves to make in the place of those that were taken back, by their coins."""

    def push(self, push: Push) -> list[Effect]:
        coins = {spend.coin.puzzle_hash for spend in push.bundle.spends}
        taken_back = any(coin.puzzle_hash() in coins for coin in self._others)
        return [] if push.name == "move" and taken_back else [push]

    def cheat(self, block: Block) -> Iterator[Effect]:
        """Make another move where a reorganisation removed one."""
        for tracked, _ in self.unspent_games(block):
            other = self._others.get(tracked.game.coin)
            if other is not None:
                self.done = True
                self._decide(tracked, other)
                yield self.move("again", tracked, other.coin)

    def last(self) -> list[Effect]:
        """Rewind when the answer is pending, or as late as one reorganisation reaches."""
        if self.dispute is None:
            return []
        reach = self.peer.config.agreement.confirmations
        for tracked, seen in self.game_coins(self.seen):
            decided, other = self.dispute.decided.get(tracked.game.coin), self._other(tracked)
            if seen.spent is None or decided is None or other is None:
                continue
            back = self.seen.peak - seen.spent + 1
            answered = bool(self.plan.chain.pending(tracked.child(decided.coin).id))
            if (back == reach or answered) and self.rewind(back):
                self._others[tracked.game.coin] = other
                return []
        return []

    def _decide(self, tracked: TrackedCoin, other: LiveGame) -> None:
        """Make its peer go on from the other move."""
        dispute = self.dispute
        if dispute is not None:
            decided = {**dispute.decided, tracked.game.coin: other}
            dispute = replace(dispute, decided=decided)
            self.peer.state = replace(self.peer.state, dispute=dispute)

    def _other(self, tracked: TrackedCoin) -> LiveGame | None:
        """The game after another move than the one that was decided on; None without one."""
        dispute = self.dispute
        if dispute is None or tracked.player is None:
            return None
        decided = dispute.decided.get(tracked.game.coin)
        if decided is None:
            return None
        for choice in tracked.player.choices():
            for number in _numbers(choice):
                action = Action(choice.verb, number)
                other = self.peer.endpoint.own_action(tracked.game, tracked.player, action).after
                if other.coin not in (decided.coin, tracked.game.coin):
                    return other
        return None


def _numbers(choice: Choice) -> tuple[int, ...]:
    """Numbers to take a choice with; none where there is nothing to decide."""
    match choice:
        case Amount(least=least, most=most):
            return least, most
        case OneOf(options=options):
            return (*options[:2], options[-1])
        case Plain():
            return (0,)
        case Forced():
            return ()
