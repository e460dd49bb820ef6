"""Apply the actions of a batch to a state: one function for sender and receiver.

Pure: a state and actions in, a new state out, or a `Violation` and nothing changed.
Source: spec/channel.md, "The potato". Rule ids are those of `channelsim.channel.protocol.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from channelsim.channel.errors import Violation
from channelsim.channel.protocol.messages import Accept, BatchAction, Cancel, Move, Propose, Settle
from channelsim.channel.protocol.proposals import UnfitProposal, first_game
from channelsim.channel.protocol.state import Channel, ChannelState, Group, LiveGame, Side
from channelsim.games.amounts import counted

MAX_LIVE_GAMES = 100
MAX_OPEN_PROPOSALS = 100
MAX_SKIP = 1000

_ORDER: dict[type[BatchAction], int] = {Settle: 0, Cancel: 1, Accept: 2, Move: 3, Propose: 4}

Mover = Callable[[LiveGame, Move], LiveGame]
"""Apply a move to its game. The receiver judges the move, and raises `Violation`."""


class Settled(msgspec.Struct, frozen=True):
    """A game that ended off chain, with the payouts to the initiator and the receiver."""

    game: LiveGame
    by: Side
    payouts: tuple[int, int]


def apply(
    channel: Channel,
    state: ChannelState,
    sender: Side,
    actions: Sequence[BatchAction],
    move: Mover,
) -> tuple[ChannelState, tuple[Settled, ...]]:
    """The state after a batch, and the games that it settled. Raises `Violation`.

    `Channel.on_chain` refuses a state that does not hold all the money.
    """
    order = [_ORDER[type(action)] for action in actions]
    if order != sorted(order):
        raise Violation("CH-BATCH-3", f"actions come as {_names(actions)}")
    moved: set[int] = set()
    settled: list[Settled] = []
    for action in actions:
        match action:
            case Settle():
                state, ended = _settle(state, sender, action)
                settled.append(ended)
            case Cancel():
                state = _without_group(state, _open_group(state, action.group_id, "CH-CANCEL-1"))
            case Accept():
                state = _accept(channel, state, sender, action)
            case Move():
                if action.game_id in moved:
                    raise Violation("CH-MOVE-3", f"two moves in game {action.game_id}")
                moved.add(action.game_id)
                state = _move(state, sender, action, move)
            case Propose():
                state = _propose(channel, state, sender, action)
    check_addresses(channel, state)
    return replace(state, number=state.number + 1), tuple(settled)


def check_addresses(channel: Channel, state: ChannelState) -> None:
    """Check that no game coin lies at a reward address. Raises `Violation`.

    Referee coins are not bound to a channel, so a player can choose the puzzle hash of one as
    its reward address. If both coins of a state then have the same amount, the state creates
    the same coin twice, which the chain refuses, and could not preempt.
    """
    for game in state.games:
        if game.coin.puzzle_hash() in channel.rewards:
            raise Violation("CH-COINS-1", f"the coin of game {game.id} is at a reward address")


def _settle(state: ChannelState, sender: Side, action: Settle) -> tuple[ChannelState, Settled]:
    game = state.game(action.game_id)
    if game is None:
        raise Violation("CH-SETTLE-1", f"no game {action.game_id} is live")
    if game.mover is not sender:
        raise Violation("CH-SETTLE-2", f"in game {game.id} it is the other side's turn")
    shares = game.shares()
    balances = (state.balances[0] + shares[0], state.balances[1] + shares[1])
    games = tuple(other for other in state.games if other.id != game.id)
    return (
        replace(state, balances=balances, games=games),
        Settled(game, sender, shares),
    )


def _open_group(state: ChannelState, group_id: int, rule: str) -> Group:
    group = state.group(group_id)
    if group is None:
        raise Violation(rule, f"no proposal {group_id} is open")
    return group


def _without_group(state: ChannelState, group: Group) -> ChannelState:
    groups = tuple(other for other in state.groups if other.id != group.id)
    return replace(state, groups=groups)


def _accept(channel: Channel, state: ChannelState, sender: Side, action: Accept) -> ChannelState:
    group = _open_group(state, action.group_id, "CH-ACCEPT-1")
    if group.proposer is sender:
        raise Violation("CH-ACCEPT-2", f"proposal {group.id} was made by the side that accepts it")
    stakes = group.stakes()
    balances = (state.balances[0] - stakes[0], state.balances[1] - stakes[1])
    if min(balances) < 0:
        raise Violation("CH-ACCEPT-3", f"stakes {stakes} over balances {state.balances}")
    if len(state.games) + len(group.offers) > MAX_LIVE_GAMES:
        raise Violation("CH-ACCEPT-4", f"{counted(len(state.games) + len(group.offers), 'game')}")
    games = [*state.games]
    for offer in group.offers:
        try:
            games.append(first_game(channel, group.proposer, offer))
        except UnfitProposal as unfit:
            # Only what we could build ourselves is ever an open proposal that we accept.
            raise Violation("CH-ACCEPT-1", f"game {offer.game_id}: {unfit}") from None
    games.sort(key=lambda game: game.id)
    state = replace(state, balances=balances, games=tuple(games))
    return _without_group(state, group)


def _move(state: ChannelState, sender: Side, action: Move, move: Mover) -> ChannelState:
    game = state.game(action.game_id)
    if game is None:
        raise Violation("CH-MOVE-1", f"no game {action.game_id} is live")
    if game.mover is not sender:
        raise Violation("CH-MOVE-2", f"in game {game.id} it is the other side's turn")
    after = move(game, action)
    games = tuple(after if other.id == game.id else other for other in state.games)
    return replace(state, games=games)


def _propose(channel: Channel, state: ChannelState, sender: Side, action: Propose) -> ChannelState:
    least = state.next_ids[sender]
    for offer in action.offers:
        if offer.game_id % 2 != sender:
            raise Violation("CH-PROPOSE-1", f"id {offer.game_id} from the {sender.name.lower()}")
        if not least <= offer.game_id <= least + 2 * MAX_SKIP:
            raise Violation("CH-PROPOSE-2", f"id {offer.game_id} where {least} is the next")
        least = offer.game_id + 2
    still_open = sum(len(group.offers) for group in state.groups) + len(action.offers)
    if still_open > MAX_OPEN_PROPOSALS:
        raise Violation("CH-PROPOSE-3", f"{still_open} open proposals")
    for offer in action.offers:
        try:
            first_game(channel, sender, offer)
        except UnfitProposal:
            # A game that the receiver of the offer cannot play is for it to cancel.
            continue
    next_ids = (
        (least, state.next_ids[1]) if sender is Side.INITIATOR else (state.next_ids[0], least)
    )
    groups = (*state.groups, Group(sender, action.offers))
    return replace(state, groups=groups, next_ids=next_ids)


def _names(actions: Sequence[BatchAction]) -> str:
    return ", ".join(type(action).__name__.lower() for action in actions)
