"""The player's decisions in a dispute."""

from __future__ import annotations

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import Effect
from channelsim.channel.peer.onchain.dispute_state import Dispute
from channelsim.channel.peer.onchain.scan import scan, take_decision
from channelsim.games.contract import Action, Player
from channelsim.games.errors import IllegalAction


def act(dispute: Dispute, game_id: int, action: Action) -> tuple[Dispute, list[Effect]]:
    """Take the player's decision in a game on chain. Raises `UsageError`."""
    tracked = dispute.undecided.get(game_id)
    if tracked is None:
        raise UsageError(f"game {game_id} waits for no decision")
    try:
        dispute, effects = take_decision(dispute, tracked, action)
    except IllegalAction as error:
        raise UsageError(f"game {game_id}: {error}") from None
    after, more = scan(dispute, dispute.block)
    return after, effects + more


def seat(dispute: Dispute, game_id: int) -> Player | None:
    """Our seat in a game that waits for our decision on chain."""
    tracked = dispute.undecided.get(game_id)
    return tracked.player if tracked else None
