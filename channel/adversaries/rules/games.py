"""Violations of the rules of settlements, acceptances and moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import msgspec

from channelsim.channel.adversaries.batches import NOWHERE
from channelsim.channel.adversaries.rules.breaker import (
    Requester,
    RuleBreaker,
    Variants,
    breaks,
    breaks_batch,
)
from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Message,
    Move,
    Propose,
    Settle,
)
from channelsim.channel.protocol.proposals import first_game
from channelsim.channel.protocol.state import ChannelState
from channelsim.games.choices import least_action
from channelsim.games.errors import IllegalAction


def _add_action(
    action: BatchAction, breaker: RuleBreaker, batch: Batch, before: ChannelState
) -> Variants:
    """The batch with one more action in the right place, signed as if it had no effect."""
    kinds = (Settle, Cancel, Accept, Move, Propose)
    actions = sorted((*batch.actions, action), key=lambda act: kinds.index(type(act)))
    return [[breaker.signs(breaker.applied(before, batch.actions), actions)]]


_OF_NOTHING: Mapping[str, BatchAction] = {
    "CH-SETTLE-1": Settle(NOWHERE),
    "CH-CANCEL-1": Cancel(NOWHERE, "no"),
    "CH-ACCEPT-1": Accept(NOWHERE),
    "CH-MOVE-1": Move(NOWHERE, bytes(32), 0, 32, bytes(32)),
}
"""Actions on games and proposals that do not exist, by the rules that they break."""

_ACTS: Mapping[str, type[BatchAction]] = {
    "CH-SETTLE-1": Settle,
    "CH-CANCEL-1": Cancel,
    "CH-ACCEPT-1": Accept,
    "CH-MOVE-3": Move,
}
"""Actions that must not be taken twice, by the rules that this breaks."""


def _twice(
    kind: type[BatchAction], breaker: RuleBreaker, batch: Batch, before: ChannelState
) -> Variants:
    """The batch with one of its actions twice, for each action of this kind."""
    after, actions = breaker.applied(before, batch.actions), batch.actions
    return [
        [breaker.signs(after, (*actions[:at], action, *actions[at:]))]
        for at, action in enumerate(actions)
        if isinstance(action, kind)
    ]


def _without_right(rule: str, breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    """An action of nothing, or one of the batch twice."""
    variants = _twice(_ACTS[rule], breaker, batch, before) if rule in _ACTS else []
    if rule in _OF_NOTHING:
        variants += _add_action(_OF_NOTHING[rule], breaker, batch, before)
    return variants


for _rule in {**_OF_NOTHING, **_ACTS}:
    breaks_batch(_rule)(partial(_without_right, _rule))


def _in_the_others_turn(breaker: RuleBreaker, actions: Iterable[BatchAction]) -> Variants:
    """A batch of each of these actions that only the other side may take."""
    state, other = breaker.state, breaker.side.other
    return [[breaker.batch_after(state, (action,), other)] for action in actions]


@breaks("CH-SETTLE-2", Requester)
def _settles_theirs(breaker: RuleBreaker, message: Message) -> Variants:
    games = breaker.state.games
    theirs = (Settle(game.id) for game in games if game.mover is breaker.side.other)
    return _in_the_others_turn(breaker, theirs)


@breaks("CH-ACCEPT-2", Requester)
def _accepts_its_own(breaker: RuleBreaker, message: Message) -> Variants:
    groups = breaker.state.groups
    own = (Accept(group.id) for group in groups if group.proposer is breaker.side)
    return _in_the_others_turn(breaker, own)


@breaks_batch("CH-ACCEPT-3")
def _accepts_too_much(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    rest = tuple(act for act in batch.actions if not isinstance(act, Cancel | Accept))
    # The peer has erased the decks of the proposals that it cancels.
    channel = breaker.channel_before or breaker.channel
    variants: Variants = []
    for group in before.groups:
        stakes = group.stakes()
        left = [balance - stake for balance, stake in zip(before.balances, stakes, strict=True)]
        if (
            group.proposer is breaker.side
            or min(left) >= 0
            or any(isinstance(act, Settle) for act in rest)
        ):
            continue
        after = breaker.applied(before, rest)
        balances = [balance - stake for balance, stake in zip(after.balances, stakes, strict=True)]
        games = [first_game(channel, group.proposer, offer) for offer in group.offers]
        after = msgspec.structs.replace(
            after, balances=(balances[0], balances[1]), games=(*after.games, *games)
        )
        actions = sorted((*rest, Accept(group.id)), key=lambda act: isinstance(act, Move | Propose))
        variants.append([breaker.signs(after, actions)])
    return variants


# --- moves -------------------------------------------------------------------------------------


def _moves(batch: Batch) -> list[Move]:
    return [action for action in batch.actions if isinstance(action, Move)]


@breaks("CH-MOVE-2", Requester)
def _moves_for_the_other(breaker: RuleBreaker, message: Message) -> Variants:
    endpoint, state = breaker.peer.state.endpoint, breaker.state
    if endpoint is None:
        return []
    swapped = replace(endpoint, side=breaker.side.other)
    records = SignedGames.of(swapped, breaker.peer.play.history)
    variants: Variants = []
    for game in state.games:
        if game.mover is breaker.side or game.terms.deck is not None:
            continue  # nobody moves for the other without its locks
        player = records.player_at(state, game)
        if player is None:
            continue
        for choice in player.choices():
            try:
                own = endpoint.own_action(game, player, least_action(choice))
            except (IllegalAction, InvariantError):
                continue
            if isinstance(own.wire, Move):
                games = tuple(own.after if live.id == game.id else live for live in state.games)
                after = msgspec.structs.replace(state, games=games, number=state.number + 1)
                variants.append([breaker.signs(after, (own.wire,))])
    return variants


def _other_move(
    breaker: RuleBreaker, batch: Batch, before: ChannelState, *changes: Mapping[str, object]
) -> Variants:
    variants: Variants = []
    for move in _moves(batch):
        for change in changes:
            other = msgspec.structs.replace(move, **change)
            actions = [other if act is move else act for act in batch.actions]
            try:
                variants.append([breaker.batch_after(before, actions)])
            except (Violation, InvariantError):
                continue
    return variants


@breaks_batch("CH-MOVE-4")
def _illegal(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    variants: Variants = []
    for move in _moves(batch):
        if len(move.move) >= 16:
            # Too short for anything but an amount, and larger than any stack.
            variants += _other_move(breaker, batch, before, {"move": move.move[:15]})
    return variants


@breaks_batch("CH-MOVE-5")
def _other_record(breaker: RuleBreaker, batch: Batch, before: ChannelState) -> Variants:
    commitment = {"commitment": breaker.plan.chance.bytes(32)}
    return _other_move(
        breaker, batch, before, commitment, {"commitment": b""}, {"max_move_size": 1}
    )
