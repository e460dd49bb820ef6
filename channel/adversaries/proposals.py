"""Adversaries that propose or accept what they must not."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs
from msgspec.structs import replace

from channelsim.channel.adversaries.base import (
    Adversary,
    BatchChanger,
    adversary,
    by_method,
    changes_batch,
    changes_message,
)
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Effect, ProposeGames
from channelsim.channel.protocol.bounds import MOST_TIMEOUT
from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Message,
    Offer,
    Propose,
    Settle,
)
from channelsim.channel.protocol.proposals import UnfitProposal, least_timeout, offer_of
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.protocol.transitions import MAX_OPEN_PROPOSALS


class Proposing(BatchChanger):
    """Proposes one more game at its step, or two, so that there is a proposal to change."""

    _proposed = False

    def act(self) -> list[Effect]:
        """Propose games with the terms of the latest offer, once."""
        wish = self.wish()
        if self.done or self._proposed or wish is None:
            return []
        effects = self.command(ProposeGames((wish,)))
        self._proposed = effects is not None
        if self._proposed and self.plan.chance.chance(50):
            effects = [*(effects or []), *(self.command(ProposeGames((wish,))) or [])]
        return effects or []


def with_offers(
    proposer: Adversary, batch: Batch, before: ChannelState, change: Callable[[Offer], Offer]
) -> list[bytes] | None:
    """The batch with every offer changed, signed again; None for a batch without one.

    None, too, if another adversary has made an offer that cannot be made in another way.
    """
    if not any(isinstance(action, Propose) for action in batch.actions):
        return None
    try:
        actions = [
            Propose(tuple(map(change, action.offers))) if isinstance(action, Propose) else action
            for action in batch.actions
        ]
    except UnfitProposal:
        return None
    return [proposer.batch(before, actions)]


def with_timeout(proposer: Adversary, offer: Offer, timeout: int) -> Offer:
    """The offer with another timeout, in blocks. Raises `UnfitProposal`."""
    wish = replace(proposer.wish_of(offer), timeout=timeout)
    return offer_of(proposer.channel, proposer.side, offer.game_id, wish)


@by_method(Proposing, "change_batch", "wrong-ids", "proposes games under ids of the other side")
def _wrong_ids(proposer: Proposing, batch: Batch, before: ChannelState) -> list[bytes] | None:
    return with_offers(
        proposer, batch, before, lambda offer: structs.replace(offer, game_id=offer.game_id + 1)
    )


@by_method(Proposing, "change_batch", "short-timeouts", "proposes games with too short a timeout")
def _short_timeouts(proposer: Proposing, batch: Batch, before: ChannelState) -> list[bytes] | None:
    # No rule forbids the proposal: the other side has to refuse it.
    agreed = proposer.peer.config.agreement
    few = proposer.plan.chance.pick((1, agreed.confirmations, agreed.confirmations + 2, None))

    def shorter(offer: Offer) -> Offer:
        most = least_timeout(offer.game, agreed.confirmations, agreed.spacing) - 1
        return with_timeout(proposer, offer, most if few is None else few)

    return with_offers(proposer, batch, before, shorter)


@by_method(Proposing, "change_batch", "long-timeouts", "proposes games with too long a timeout")
def _long_timeouts(proposer: Proposing, batch: Batch, before: ChannelState) -> list[bytes] | None:
    # As above, the other side has to refuse it.
    many = proposer.plan.chance.pick((MOST_TIMEOUT + 1, 10 * MOST_TIMEOUT))
    return with_offers(proposer, batch, before, lambda offer: with_timeout(proposer, offer, many))


@changes_message("self-accepter", "accepts its own proposal", kind=Proposing)
def _self_accepter(proposer: Proposing, message: Message, blob: bytes) -> list[bytes] | None:
    if not isinstance(message, Batch):
        return None
    for action in message.actions:
        if isinstance(action, Propose):
            return [blob, proposer.batch(proposer.state, (Accept(action.offers[0].game_id),))]
    return None


@changes_batch("cross-accepter", "accepts and cancels the same proposal, at once or later")
def _cross_accepter(
    changer: BatchChanger, batch: Batch, before: ChannelState
) -> list[bytes] | None:
    ids = [group.id for group in before.groups] + [game.id for game in before.games]
    if not ids:
        return None
    game_id = changer.plan.chance.pick(ids)
    both: tuple[BatchAction, ...] = (Cancel(game_id, "no"), Accept(game_id))
    settles = [action for action in batch.actions if isinstance(action, Settle)]
    rest = [act for act in batch.actions if not isinstance(act, Settle | Cancel | Accept)]
    crossed = both[: 1 + changer.plan.chance.below(2)]
    return [changer.batch(before, (*settles, *crossed, *rest))]


@changes_batch("crowder", "proposes more games than may be open")
def _crowder(changer: BatchChanger, batch: Batch, before: ChannelState) -> list[bytes] | None:
    wish = changer.wish()
    if wish is None:
        return None
    first = changer.state.next_ids[changer.side]
    offer = offer_of(changer.channel, changer.side, first, wish)
    offers = [
        structs.replace(offer, game_id=first + 2 * number)
        for number in range(MAX_OPEN_PROPOSALS + 1)
    ]
    at = changer.plan.chance.pick((50, MAX_OPEN_PROPOSALS, len(offers)))
    groups = [Propose(tuple(part)) for part in (offers[:at], offers[at:]) if part]
    return [changer.batch(before, (*batch.actions, *groups))]


@adversary("unaffordable", "proposes a group of games that the balances do not cover")
class _Unaffordable(Adversary):
    def block(self, block: Block) -> list[Effect]:
        """Propose that with every block; the other side cancels it, and play goes on."""
        wish = self.wish()
        if not self.due or wish is None:
            return []
        offer = offer_of(self.channel, self.side, 0, wish)
        count = self.channel.coin.amount // max(1, min(offer.stakes)) + 1
        group = tuple(
            replace(wish, i_am_alice=number % 2 == 0)
            for number in range(min(count, MAX_OPEN_PROPOSALS // 2))
        )
        effects = self.command(ProposeGames(group))
        self.done = effects is not None
        return effects or []
