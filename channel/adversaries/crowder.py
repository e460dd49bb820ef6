"""More games than there may be, and more than there is money for."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from channel.adversaries.base import Adversary, register
from channel.chain.observations import Block
from channel.peer.interface import Effect, ProposeGames
from channel.protocol.messages import Batch, Message, Propose
from channel.protocol.proposals import offer_of
from channel.protocol.transitions import MAX_OPEN_PROPOSALS


@register
class Crowder(Adversary):
    """A hundred games and one, in one group or in two."""

    name = "crowder"
    about = "proposes more games than may be open"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with its proposals on top."""
        before, wish = self.before(), self.wish()
        if self.done or not isinstance(message, Batch) or before is None or wish is None:
            return [blob]
        self.done = True
        channel, side = self._channel(), self.peer.config.side
        first = self.peer.play.state.next_ids[side]
        one = offer_of(channel, side, first, wish)
        offers = []
        for number in range(MAX_OPEN_PROPOSALS + 1):
            game_id = first + 2 * number
            offers.append(msgspec.structs.replace(one, game_id=game_id))
        at = self.plan.chance.pick((50, MAX_OPEN_PROPOSALS, len(offers)))
        groups = [Propose(tuple(part)) for part in (offers[:at], offers[at:]) if part]
        return [self.batch(before, (*message.actions, *groups))]


@register
class Unaffordable(Adversary):
    """It wants to play for more than the channel holds; the other side says no, and they go on."""

    name = "unaffordable"
    about = "proposes a group of games that the balances do not cover"

    def block(self, block: Block) -> list[Effect]:
        """With every block, as many of the games that are played anyway as nobody can pay for."""
        wish = self.wish()
        if not self.due or wish is None:
            return []
        offer = offer_of(self._channel(), self.peer.config.side, 0, wish)
        count = self._channel().coin.amount // max(1, min(offer.stakes)) + 1
        group = tuple(
            replace(wish, i_am_alice=number % 2 == 0)
            for number in range(min(count, MAX_OPEN_PROPOSALS // 2))
        )
        effects = self.command(ProposeGames(group))
        self.done = self.done or effects is not None
        return effects or []
