"""Decisions about unspent game coins.

Source: spec/channel.md, "Playing on chain".
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from channelsim.channel.peer.onchain.chain_view import ChainView
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin
from channelsim.channel.peer.slashable import SlashableMove
from channelsim.channel.protocol.state import LiveGame
from channelsim.games import registry

LAST_CHANCE = 3
"""Blocks before its deadline in which a move no longer waits, multiplied by the spacing."""


class SlashMove(msgspec.Struct, frozen=True):
    """Slash: the last move was illegal, and we take everything."""

    illegal: SlashableMove


class MakeMove(msgspec.Struct, frozen=True):
    """Make this move; `redo`: it was sent off chain. `risky`: it could not wait long enough."""

    after: LiveGame
    redo: bool
    risky: bool


class ClaimTimeout(msgspec.Struct, frozen=True):
    """Claim: the timeout has come, and pays us something."""


class AskPlayer(msgspec.Struct, frozen=True):
    """Ask the player, who has not decided yet."""


class LetGo(msgspec.Struct, frozen=True):
    """Forfeit: nothing in the coin is ours, and no spend can change that."""


class Wait(msgspec.Struct, frozen=True):
    """Do nothing with this block."""


Decision: TypeAlias = SlashMove | MakeMove | ClaimTimeout | AskPlayer | LetGo | Wait


def decide(view: ChainView, tracked: TrackedCoin, born: int) -> Decision:
    """Decide what to do about an unspent game coin that was made at this height."""
    game = tracked.game
    age = view.peak - born
    if tracked.slashable is not None:
        # No timelock, and everything to win: a slash is possible until the coin is spent.
        return SlashMove(tracked.slashable)
    may_move = False
    if game.mover is view.side and game.coin.infohash_b:
        signed = view.dispute.signed_games
        redo = signed.sent_from(game)
        open_to_us = tracked.player is not None and not signed.settled_by_us(game)
        undecided = redo is None and game.coin not in view.decided
        after = redo or view.decided.get(game.coin)
        may_move = open_to_us and (undecided or after is not None)
        if may_move and age < game.coin.timeout:
            return _move(view, tracked, age, after, redo is not None) if after else AskPlayer()
    nothing_to_wait_for = game.mover is view.side and not may_move
    if not game.shares()[view.side] and (age >= game.coin.timeout or nothing_to_wait_for):
        return LetGo()
    return ClaimTimeout() if age >= game.coin.timeout else Wait()


def _move(view: ChainView, tracked: TrackedCoin, age: int, after: LiveGame, redo: bool) -> Decision:
    """Make our move, unless it has to wait until the move that it answers is deep."""
    safe = (
        redo
        or tracked.first
        or age >= view.endpoint.confirmations
        or not registry.get(tracked.game.terms.game).reveals
    )
    last_chance = view.endpoint.spacing * LAST_CHANCE
    if not safe and age < tracked.game.coin.timeout - last_chance:
        return Wait()
    return MakeMove(after, redo, not safe)
