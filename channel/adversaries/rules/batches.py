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
from channelsim.channel.adversaries.rules.wrong_halves import (
    wrong_channel_halves,
    wrong_unroll_halves,
)
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.protocol import transitions as engine
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
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
def _without_the_potato(breaker: RuleBreaker, message: Batch) -> Variants:
    after = breaker.state
    return [[message, breaker.signs(replace(after, number=after.number + 1), ())]]


@breaks_batch("CH-BATCH-2")
def _other_number(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    after = breaker.applied(before, batch.actions)
    numbers = (before.number - 1, before.number, after.number + 1, after.number + 2, 1 << 40)
    return [
        [breaker.signs(replace(after, number=number), batch.actions)]
        for number in numbers
        if number >= 2
    ]


@breaks_batch("CH-BATCH-3")
def _other_order(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    actions = batch.actions
    if len({type(action) for action in actions}) < 2:
        # A proposal belongs at the end.
        offer = _offer(breaker, breaker.applied(before, actions), 0)
        if offer is None or not actions or isinstance(actions[-1], Propose):
            return []
        actions = (*actions, Propose((offer,)))
    return [[breaker.signs(breaker.applied(before, actions), actions[::-1])]]


@breaks_kind("CH-BATCH-4", Batch)
def _other_channel_half(breaker: RuleBreaker, message: Batch) -> Variants:
    return changed(message, *wrong_channel_halves(breaker.channel, breaker.keys, breaker.state))


@breaks_kind("CH-BATCH-5", Batch)
def _other_unroll_half(breaker: RuleBreaker, message: Batch) -> Variants:
    return changed(message, *wrong_unroll_halves(breaker.channel, breaker.keys, breaker.state))


@breaks_batch("CH-BATCH-6")
def _nothing_done(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    if not any(isinstance(act, Move | Settle) for act in batch.actions):
        return []
    return [[breaker.batch_after(before, ())]]


# --- proposals ---------------------------------------------------------------------------------


def _offer(breaker: RuleBreaker, before: ChannelState, skipped: int) -> Offer | None:
    """An offer like the latest one, `skipped` ids above the least free one; None without one."""
    wish = breaker.wish()
    if wish is None:
        return None
    try:
        return offer_of(
            breaker.channel, breaker.side, before.next_ids[breaker.side] + skipped, wish
        )
    except UnfitProposal:
        return None


def _breaks_offer(
    rule: str,
) -> Callable[[Callable[[Offer], list[list[Offer]]]], None]:
    """Register a function that makes groups of offers which break a rule out of a valid offer."""

    def register(change: Callable[[Offer], list[list[Offer]]]) -> None:
        @breaks_batch(rule)
        def variants(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
            after = breaker.applied(before, batch.actions)
            offer = _offer(breaker, after, 0)
            groups = change(offer) if offer is not None else []
            return [
                [breaker.signs(after, (*batch.actions, Propose(tuple(group))))] for group in groups
            ]

    return register


@_breaks_offer("CH-PROPOSE-1")
def _others_ids(offer: Offer) -> list[list[Offer]]:
    theirs = replace(offer, game_id=offer.game_id + 1)
    return [[theirs], [offer, theirs]]


@_breaks_offer("CH-PROPOSE-2")
def _far_ids(offer: Offer) -> list[list[Offer]]:
    far = replace(offer, game_id=offer.game_id + 2 * engine.MAX_SKIP + 2)
    used = replace(offer, game_id=max(offer.game_id - 2, offer.game_id % 2))
    later = replace(offer, game_id=offer.game_id + 2)
    too_far = replace(far, game_id=far.game_id + 2)
    groups = [[far], [offer, offer], [later, offer], [offer, too_far]]
    return [*groups, [used]] if used != offer else groups


@breaks_batch("CH-PROPOSE-3")
def _many(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    after = breaker.applied(before, batch.actions)
    offers = [_offer(breaker, after, 2 * number) for number in range(engine.MAX_OPEN_PROPOSALS + 1)]
    there = [offer for offer in offers if offer is not None]
    if not there:
        return []
    groups = Propose(tuple(there[:-1])), Propose(tuple(there[-1:]))
    return [[breaker.signs(after, (*batch.actions, *groups))]]


@_breaks_offer("CH-PROPOSE-4")
def _false_record(offer: Offer) -> list[list[Offer]]:
    first, second = offer.stakes
    wrong = [
        replace(offer, amount=offer.amount + 1),
        replace(offer, amount=offer.amount - 1),
        replace(offer, stakes=(first + 1, second - 1)),
        replace(offer, stakes=(first + 1, second)),
        replace(offer, stakes=(first + second, 0)),
        replace(offer, commitment=bytes(32)),
        replace(offer, max_move_size=offer.max_move_size + 1),
        replace(offer, max_move_size=offer.max_move_size - 1),
        replace(offer, mover_share=offer.mover_share + 1),
    ]
    return [[other] for other in wrong]


# --- the shutdown ------------------------------------------------------------------------------


def _half(breaker: RuleBreaker, state: ChannelState) -> Shutdown:
    endpoint = breaker.peer.state.endpoint
    if endpoint is None:
        raise InvariantError("a shutdown without a channel")
    return Shutdown(CleanShutdown.of(endpoint, replace(state, games=())).half())


@breaks_kind("CH-SHUT-1", Batch)
def _closes_without_the_potato(breaker: RuleBreaker, message: Batch) -> Variants:
    return [] if breaker.state.games else [[message, _half(breaker, breaker.state)]]


@breaks_batch("CH-SHUT-2")
def _closes_with_a_game(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    return [[_half(breaker, before)]] if before.games else []


@breaks("CH-SHUT-3")
def _closes_at_other_balances(breaker: RuleBreaker, message: Message) -> Variants:
    if not breaker.is_open or not isinstance(message, Shutdown | ShutdownDone):
        return []
    state, keys, channel = breaker.state, breaker.keys, breaker.channel
    (first, second), rich = state.balances, breaker.everything()
    others = {rich, (first - 1, second + 1), (first + 1, second - 1)} - {state.balances}
    signed = channel.shutdown_message(replace(state, games=()))
    halves = [
        *(_half(breaker, replace(state, balances=other)).half for other in sorted(others)),
        bls.sign_half(keys.unroll, signed, channel.channel_key),
        NO_SIGNATURE,
        bytes(96),
        breaker.signs(state, ()).channel_half,
    ]
    if isinstance(message, Shutdown):
        return [[Shutdown(half)] for half in halves]
    return [[ShutdownDone(half)] for half in (*halves, _half(breaker, state).half)]


@breaks_kind("CH-SHUT-4", Batch)
def _completes_nothing(breaker: RuleBreaker, message: Batch) -> Variants:
    return [[ShutdownDone(_half(breaker, breaker.state).half)]]


@breaks_kind("CH-SHUT-5", ShutdownDone)
def _plays_on(breaker: RuleBreaker, message: ShutdownDone) -> Variants:
    state = breaker.state
    after = replace(state, number=state.number + 1)
    return [[breaker.signs(after, ())], [_half(breaker, state)]]
