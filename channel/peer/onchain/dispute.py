"""The start of a dispute, and the player's decisions in it."""

from __future__ import annotations

from collections.abc import Mapping

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.fees import Fees
from channelsim.channel.peer.interface import Effect
from channelsim.channel.peer.onchain.dispute_state import Dispute
from channelsim.channel.peer.onchain.scan import scan, take_decision
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.peer.slashable import SlashableMove
from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.games.contract import Action, Player
from channelsim.games.errors import IllegalAction


def begin(
    endpoint: Endpoint,
    *,
    newest: SignedState,
    history: StateHistory,
    players: tuple[tuple[int, Player], ...],
    deadline: int,
    funding: Bundle | None,
    peak: int,
    slashable: Mapping[int, SlashableMove],
    shutdown: CleanShutdown | None,
    fees: Fees | None,
) -> Dispute:
    """Begin the dispute of a channel whose messages no longer count."""
    watched = [endpoint.channel.coin]
    if fees is not None:
        watched.append(fees.wallet.coin)
    return Dispute(
        endpoint=endpoint,
        newest=newest,
        signed_games=SignedGames.of(endpoint, history),
        slashable=slashable,
        players=players,
        deadline=deadline,
        funding=funding,
        began=peak,
        shutdown=shutdown,
        fees=fees,
        watched=frozenset(watched),
        block=Block(peak),
    )


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
