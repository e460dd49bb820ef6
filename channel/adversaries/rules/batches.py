"""Violations of the rules of batches, proposals and the shutdown."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from channelsim.channel.adversaries.rules.breaker import (
    RuleBreaker,
    Variants,
    breaks,
    breaks_batch,
    breaks_kind,
    changed,
)
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.protocol import transitions as engine
from channelsim.channel.protocol.half_signed import Halves, sign_halves
from channelsim.channel.protocol.messages import (
    Batch,
    Message,
    Move,
    Offer,
    Propose,
    Settle,
    Shutdown,
    ShutdownDone,
)
from channelsim.channel.protocol.proposals import UnfitProposal, offer_of
from channelsim.channel.protocol.state import ChannelState


@breaks_kind("CH-BATCH-1", Batch)
def _without_the_potato(one: RuleBreaker, message: Batch) -> Variants:
    after = one.state
    return [[message, one.signs(replace(after, number=after.number + 1), ())]]


@breaks_batch("CH-BATCH-2")
def _other_number(one: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    after = one.applied(before, batch.actions)
    numbers = (before.number, after.number + 1, after.number + 2, 1 << 40)
    return [
        [one.signs(replace(after, number=number), batch.actions)]
        for number in numbers
        if number >= 2
    ]


@breaks_batch("CH-BATCH-3")
def _other_order(one: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    actions = batch.actions
    if len({type(action) for action in actions}) < 2:
        # A proposal belongs at the end.
        offer = _offer(one, one.applied(before, actions), 0)
        if offer is None or not actions or isinstance(actions[-1], Propose):
            return []
        actions = (*actions, Propose((offer,)))
    return [[one.signs(one.applied(before, actions), actions[::-1])]]


@breaks_kind("CH-BATCH-4", Batch)
def _other_channel_half(one: RuleBreaker, message: Batch) -> Variants:
    return changed(message, {"channel_half": _greedy_halves(one)[0]})


@breaks_kind("CH-BATCH-5", Batch)
def _other_unroll_half(one: RuleBreaker, message: Batch) -> Variants:
    return changed(message, {"unroll_half": _greedy_halves(one)[1]})


def _greedy_halves(one: RuleBreaker) -> Halves:
    """The halves of a state that gives it everything."""
    rich = ChannelState(one.state.number, one.everything())
    return sign_halves(one.channel, one.keys, rich)


@breaks_batch("CH-BATCH-6")
def _nothing_done(one: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    if not any(isinstance(act, Move | Settle) for act in batch.actions):
        return []
    return [[one.batch_after(before, ())]]


# --- proposals ---------------------------------------------------------------------------------


def _offer(one: RuleBreaker, before: ChannelState, skipped: int) -> Offer | None:
    """An offer like the latest one, `skipped` ids above the least free one."""
    wish = one.wish()
    if wish is None:
        return None
    try:
        return offer_of(one.channel, one.side, before.next_ids[one.side] + skipped, wish)
    except UnfitProposal:
        return None


def _breaks_offer(
    rule: str,
) -> Callable[[Callable[[Offer], list[list[Offer]]]], None]:
    """Register a function that makes groups of offers which break a rule out of a valid offer."""

    def register(change: Callable[[Offer], list[list[Offer]]]) -> None:
        @breaks_batch(rule)
        def variants(one: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
            after = one.applied(before, batch.actions)
            offer = _offer(one, after, 0)
            groups = change(offer) if offer is not None else []
            return [[one.signs(after, (*batch.actions, Propose(tuple(group))))] for group in groups]

    return register


@_breaks_offer("CH-PROPOSE-1")
def _others_ids(offer: Offer) -> list[list[Offer]]:
    return [[replace(offer, game_id=offer.game_id + 1)]]


@_breaks_offer("CH-PROPOSE-2")
def _far_ids(offer: Offer) -> list[list[Offer]]:
    far = replace(offer, game_id=offer.game_id + 2 * engine.MAX_SKIP + 2)
    used = replace(offer, game_id=max(offer.game_id - 2, offer.game_id % 2))
    return [[far], [offer, offer], [used]] if used != offer else [[far], [offer, offer]]


@breaks_batch("CH-PROPOSE-3")
def _many(one: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    after = one.applied(before, batch.actions)
    offers = [_offer(one, after, 2 * number) for number in range(engine.MAX_OPEN_PROPOSALS + 1)]
    there = [offer for offer in offers if offer is not None]
    if not there:
        return []
    groups = Propose(tuple(there[:-1])), Propose(tuple(there[-1:]))
    return [[one.signs(after, (*batch.actions, *groups))]]


@_breaks_offer("CH-PROPOSE-4")
def _false_record(offer: Offer) -> list[list[Offer]]:
    first, second = offer.stakes
    return [
        [replace(offer, amount=offer.amount + 1)],
        [replace(offer, stakes=(first + 1, second - 1))],
        [replace(offer, commitment=bytes(32))],
        [replace(offer, max_move_size=offer.max_move_size + 1)],
        [replace(offer, mover_share=offer.mover_share + 1)],
    ]


# --- the shutdown ------------------------------------------------------------------------------


def _half(one: RuleBreaker, state: ChannelState) -> Shutdown:
    endpoint = one.peer.state.endpoint
    if endpoint is None:
        raise InvariantError("a shutdown without a channel")
    return Shutdown(CleanShutdown.of(endpoint, replace(state, games=())).half())


@breaks_kind("CH-SHUT-1", Batch)
def _closes_without_the_potato(one: RuleBreaker, message: Batch) -> Variants:
    return [] if one.state.games else [[message, _half(one, one.state)]]


@breaks_batch("CH-SHUT-2")
def _closes_with_a_game(one: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    return [[_half(one, before)]] if before.games else []


@breaks("CH-SHUT-3")
def _closes_at_other_balances(one: RuleBreaker, message: Message) -> Variants:
    if not one.is_open or not isinstance(message, Shutdown | ShutdownDone):
        return []
    half = _half(one, replace(one.state, balances=one.everything()))
    return [[half if isinstance(message, Shutdown) else ShutdownDone(half.half)]]


@breaks_kind("CH-SHUT-4", Batch)
def _completes_nothing(one: RuleBreaker, message: Batch) -> Variants:
    return [[ShutdownDone(_half(one, one.state).half)]]


@breaks_kind("CH-SHUT-5", ShutdownDone)
def _plays_on(one: RuleBreaker, message: ShutdownDone) -> Variants:
    state = one.state
    after = replace(state, number=state.number + 1)
    return [[one.signs(after, ())], [_half(one, state)]]
