"""Check the overviews of a channel, with its keys and without: states, games, coins and dues.

They are compared with the peer's state, its newest block and what its player was told of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from channelsim.channel.peer.chain_news import GamePaid, StateCounts
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.peer_text.channel_overview import overview_lines, overview_of_peer
from channelsim.channel.protocol.state import LiveGame
from channelsim.channel.session.setup import NAMES
from channelsim.channel.store.overview import GameOverview, Overview
from channelsim.games.amounts import counted
from channelsim.games.contract import Seat

MOVES = "CH-TIME-2"
"""The rule by which a move is due."""


def wrong_overview(config: Config, state: PeerState) -> Iterator[str]:
    """Find what an overview of a peer in this state says that is not so."""
    try:
        overview = overview_of_peer(Peer(config, state))
        lines = [*overview_lines(overview)]
    except Exception as error:
        # Whatever it is, a user would see it in the place of the overview.
        yield f"cannot be shown: {type(error).__name__}: {error}"
        return
    yield from (f"has the line {line[:100]!r}" for line in lines if not line.isprintable())
    if state.play is not None:
        right = {
            "newest": state.play.state.number,
            "completed": state.play.newest.state.number,
            "balances": dict(zip(NAMES, state.play.state.balances, strict=True)),
            "we_hold_the_potato": state.play.potato,
        }
        if overview["states"] != right:
            yield f"has the states {overview['states']}, and not {right}"
    us = NAMES[config.side]
    due = {(duty["who"], duty["height"]) for duty in overview["due"]}
    for who, what, height in _dues(config, state):
        if (who, height) not in due:
            yield f"does not have {what} by height {height}"
    if state.play is not None and state.dispute is None and state.phase is not Phase.CLOSED:
        yield from _wrong_games(state.play.state.games, us, overview["games"])
    if state.dispute is not None:
        yield from _wrong_on_chain(state, state.dispute, overview)


def wrong_without_keys(play: PlayState, overview: Overview | None) -> Iterator[str]:
    """Find what the overview in a store has otherwise than the peer's play."""
    state = play.state
    games = tuple(
        GameOverview(game.id, game.terms.game, game.coin.amount, game.coin.timeout)
        for game in state.games
    )
    right = Overview(state.number, play.newest.state.number, state.balances, games)
    if overview != right:
        yield f"has the overview {overview}, and not {right}"


def _dues(config: Config, state: PeerState) -> Iterator[tuple[str, str, int]]:
    """List the deadlines: the side, its duty or right, and the height."""
    us, them = NAMES[config.side], NAMES[config.side.other]
    times, opened = config.agreement.times, state.opening.opened
    if state.phase in (Phase.OPENING, Phase.FUNDING) and opened is not None:
        yield them, "the funding", opened.deadline
    if state.phase in (Phase.PLAYING, Phase.CLOSING):
        for awaited, since in state.marks.items():
            limit = times.margin + (times.move if awaited.rule == MOVES else times.response)
            yield them, awaited.what, since + limit
    if state.dispute is not None and state.phase is Phase.ON_CHAIN:
        height = _unroll_due(state.dispute)
        if height is not None:
            yield us, "a spend of the published state", height
        yield from _game_dues(state, state.dispute, us, them)


def _unroll_due(dispute: Dispute) -> int | None:
    """The last height to preempt a stale state, or the first one to pay a state out."""
    lineage = dispute.lineage
    unroll = lineage.unroll if lineage is not None else None
    if lineage is None or unroll is None or unroll.spent is not None or lineage.published is None:
        return None
    number, endpoint = lineage.published.number, dispute.endpoint
    theirs = number % 2 != endpoint.side
    stale = theirs and number < dispute.newest.state.number
    return unroll.born + endpoint.channel.unroll_timeout - stale


def _game_dues(
    state: PeerState, dispute: Dispute, us: str, them: str
) -> Iterator[tuple[str, str, int]]:
    """The next move, or the payout, of each game coin that is not spent."""
    for seen in state.block.coins:
        tracked = dispute.tracked.get(seen.coin)
        if tracked is None or seen.spent is not None:
            continue
        game, timeout = tracked.game, seen.born + tracked.game.coin.timeout
        if game.coin.infohash_b and state.block.peak < timeout:
            mover = us if game.mover is dispute.endpoint.side else them
            yield mover, f"a move in game {game.id}", timeout - 1
        else:
            yield us, f"the payout of game {game.id}", timeout


def _wrong_games(
    games: Sequence[LiveGame], us: str, shown: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Find live games that are not shown, or not as they are."""
    if [game["id"] for game in shown] != [game.id for game in games]:
        yield f"has {counted(len(shown), 'game')}, and {len(games)} are live"
        return
    for live, game in zip(games, shown, strict=True):
        for name, right in _of_game(live, us).items():
            if game[name] != right:
                yield f"has {name} {game[name]} of game {live.id}, and not {right}"


def _of_game(game: LiveGame, us: str) -> dict[str, Any]:
    """A live game off chain."""
    alice, bob = NAMES[game.alice], NAMES[game.alice.other]
    first, second = game.terms.stakes
    mover, waiter = (alice, bob) if game.position.mover is Seat.ALICE else (bob, alice)
    coin = game.coin
    return {
        "id": game.id,
        "game": game.terms.game,
        "amount": coin.amount,
        "timeout": coin.timeout,
        "stakes": {alice: first, bob: second},
        "our_turn": mover == us,
        "if_it_ends_here": {mover: coin.mover_share, waiter: coin.amount - coin.mover_share},
    }


def _wrong_on_chain(state: PeerState, dispute: Dispute, overview: dict[str, Any]) -> Iterator[str]:
    """Find games that are over, and coins of the channel that are not shown as they are."""
    paid = {fact.game_id for fact in dispute.reported if isinstance(fact, GamePaid)}
    for game in overview["games"]:
        if game["id"] in paid:
            yield f"shows game {game['id']}, which is over"
    names = {dispute.endpoint.channel.coin: "channel"}
    for fact in dispute.reported:
        if isinstance(fact, StateCounts):
            names.update({coin: f"game {game_id}" for game_id, coin in fact.games})
    shown = {coin["coin"]: coin for coin in overview["coins"]}
    for seen in state.block.coins:
        right = {
            "coin": seen.coin.id.hex(),
            "what": names.get(seen.coin),
            "amount": seen.coin.amount,
            "born": seen.born,
            "spent": seen.spent,
        }
        if seen.coin in names and shown.get(seen.coin.id.hex()) != right:
            yield f"does not show the coin of the {names[seen.coin]} as it is"
