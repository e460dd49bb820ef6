"""Spends of a hostile side that its signatures allow or nearly allow, several at once or alone.

They need no dispute of its peer: a thief offers them to the node by itself, whenever it likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from msgspec.structs import replace

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.chain.coins import Bundle, joined
from channelsim.channel.peer.onchain.lineage import TrackedCoin
from channelsim.channel.protocol.game_spends import claim_bundle, move_bundle
from channelsim.channel.protocol.half_signed import SignedState, preempt, time_out, unroll_coin
from channelsim.channel.protocol.state import ChannelState

MOST_STATES = 40
"""The newest states of which spends are made."""

MOST_AT_ONCE = 3
"""The most spends that are offered at one time."""


class Moment(IntEnum):
    """When a spend is offered: the `amount` of its action, modulo their number."""

    AFTER_BLOCK = 0
    """As soon as the block is made, before the other side sees it."""
    BEFORE_BLOCK = 1
    """As the last one before the block, when the other side has offered its own."""
    REORGANISED = 2
    """The last block is replaced, and then first."""
    DEEP = 3
    """As many blocks are replaced as are not final yet, and then first."""

    @property
    def back(self) -> int:
        """The blocks that are replaced; the depth of confirmation at the most."""
        return {Moment.REORGANISED: 1, Moment.DEEP: 3}.get(self, 0)


class Spender(Adversary):
    """Makes the spends; its peer may be in any phase."""

    def spends(self) -> list[Bundle]:
        """Some of the possible spends at random, each a bundle, or two of them joined."""
        possible = [*self.possible()]
        if not possible:
            return []
        chance = self.plan.chance
        picked = [chance.pick(possible) for _ in range(chance.between(1, MOST_AT_ONCE))]
        return [*dict.fromkeys(picked)]

    def possible(self) -> Iterator[Bundle]:
        """All spends of coins that the chain has, unspent: each right, or wrong in one thing."""
        if self.known_channel is None or not self.is_open:
            return
        signed = self.completable()[-MOST_STATES:]
        states = [link.state for link in self.peer.play.history][:MOST_STATES]
        coin = self.channel_coin()
        if coin is not None and coin.spent is None:
            yield from self._closes(signed, states)
        for state in states:
            unroll = self.plan.chain.coin(unroll_coin(self.channel, state).id)
            if unroll is not None and unroll.spent is None:
                yield time_out(self.channel, state)
                for newer in signed:
                    yield preempt(self.channel, self.keys, newer, state)
        yield from self._in_games()

    def _closes(self, signed: list[SignedState], states: list[ChannelState]) -> Iterator[Bundle]:
        """Closes by each state that it can complete, alone or with what comes next."""
        # Stale ones are as likely as the newest, of which there is only one.
        yield from (self.publishes(state) for state in (*signed, *signed[-1:] * len(signed)))
        if signed:
            oldest, newest = signed[0], signed[-1]
            yield joined(self.publishes(oldest), time_out(self.channel, oldest.state))
            yield joined(
                self.publishes(oldest), preempt(self.channel, self.keys, newest, oldest.state)
            )
            forged = SignedState(states[0], self.channel.on_chain(states[0]), oldest.halves)
            yield self.publishes(forged)

    def _in_games(self) -> Iterator[Bundle]:
        """Claims, moves and illegal moves of the game coins that its peer follows."""
        for tracked in self.dispute.tracked.values() if self.dispute is not None else ():
            seen = self.plan.chain.coin(tracked.coin.id)
            if seen is not None and seen.spent is None:
                yield claim_bundle(self.channel, tracked.coin, tracked.game)
                yield from self._moves(tracked)

    def _moves(self, tracked: TrackedCoin) -> Iterator[Bundle]:
        game, dispute = tracked.game, self.dispute
        if dispute is None or game.mover is not self.side:
            return
        after = dispute.signed_games.sent_from(game) or dispute.decided.get(game.coin)
        if after is None:
            return
        right = after.coin
        wrong = (
            replace(right, infohash_b=self.plan.chance.bytes(32)),
            replace(right, mover_share=0),
            replace(right, move=right.move + b"\0"),
            replace(right, max_move_size=right.max_move_size + 1),
        )
        for coin in (right, *wrong):
            yield move_bundle(self.channel, self.keys, tracked.coin, game.coin, coin)
