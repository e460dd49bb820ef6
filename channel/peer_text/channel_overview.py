"""What a data directory holds of a channel: its states, games and coins, and what is due.

With the keys, the peer itself is made again from its store and asked. Without them, the
store still shows the newest state that both sides know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.chain_news import ChannelSettled, GamePaid, UnknownGame
from channelsim.channel.peer.deadlines import in_play
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.dispute import ChainView, Dispute
from channelsim.channel.peer.opening.failed_opening import watched_until
from channelsim.channel.peer.peer_state import PeerState, Phase, endpoint_of, play_of
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.state import ChannelState, LiveGame, Side
from channelsim.channel.session.setup import NAMES
from channelsim.channel.store.keys_file import ChannelTerms
from channelsim.channel.store.overview import Overview
from channelsim.games.amounts import counted

HIDDEN = ("phase", "whose turn it is", "coins", "what is due")
"""What only the keys show."""


def overview_without_keys(terms: ChannelTerms, stored: Overview | None) -> dict[str, Any]:
    """The overview without keys, from what the store has unsealed (None before play)."""
    states, games = None, []
    if stored is not None:
        states = {
            "newest": stored.newest,
            "completed": stored.completed,
            "balances": _by_name(stored.balances),
        }
        games = [msgspec.structs.asdict(game) for game in stored.games]
    return {
        **_terms(Side(terms.side), terms),
        "states": states,
        "games": games,
        "hidden": list(HIDDEN),
    }


def overview_of_peer(peer: Peer) -> dict[str, Any]:
    """The overview of a peer that was made again from its store."""
    config, state = peer.config, peer.state
    agreement, side = config.agreement, config.side
    overview = {
        **_terms(side, agreement),
        "phase": state.phase.value,
        "height": state.block.peak,
        "states": None,
        "games": [],
        "coins": _coins(peer),
        "due": _due(peer),
        "hidden": [],
    }
    if state.play is not None:
        newest = state.play.state
        overview["states"] = {
            "newest": newest.number,
            "completed": state.play.newest.state.number,
            "balances": _by_name(newest.balances),
            "we_hold_the_potato": state.play.potato,
        }
        overview["games"] = [_game(game, side) for game in _live_games(state, newest)]
    return overview


def ours_at_the_end(state: PeerState) -> int:
    """What a channel that has ended paid us, in mojos."""
    if state.dispute is not None:
        settled = [news for news in state.dispute.reported if isinstance(news, ChannelSettled)]
        if settled:
            return settled[-1].ours
    return play_of(state).state.balances[endpoint_of(state).side]


def unknown_games(state: PeerState) -> int:
    """The games of the state that counts which this copy of the store lacks: what they pay to our
    reward address is not known."""
    reported = state.dispute.reported if state.dispute is not None else ()
    return sum(isinstance(news, UnknownGame) for news in reported)


def _terms(side: Side, terms: ChannelTerms | Agreement) -> dict[str, Any]:
    return {
        "side": NAMES[side],
        "contributions": _by_name(terms.contributions),
        "unroll_timeout": terms.unroll_timeout,
        "confirmations": terms.confirmations,
        "spacing": terms.spacing,
    }


def _by_name(amounts: tuple[int, int]) -> dict[str, int]:
    return dict(zip(NAMES, amounts, strict=True))


def _live_games(state: PeerState, newest: ChannelState) -> tuple[LiveGame, ...]:
    """The games that are not over; on chain, each at its last coin."""
    dispute = state.dispute
    lineage = dispute.lineage if dispute is not None else None
    if dispute is None or lineage is None or lineage.counts is None:
        return () if state.phase is Phase.CLOSED else newest.games
    # A payout that the node hides by now was reported, and still holds.
    paid = {fact.game_id for fact in dispute.reported if isinstance(fact, GamePaid)}
    open_tracks = (track for track in lineage.tracks if track.end is None and not track.lost)
    return tuple(track.tip.game for track in open_tracks if track.tip.game.id not in paid)


def _game(game: LiveGame, side: Side) -> dict[str, Any]:
    return {
        "id": game.id,
        "game": game.terms.game,
        "amount": game.coin.amount,
        "timeout": game.coin.timeout,
        "stakes": _by_name(game.terms.stakes if game.alice is Side.INITIATOR else _swapped(game)),
        "our_turn": game.mover is side,
        "if_it_ends_here": _by_name(game.shares()),
    }


def _swapped(game: LiveGame) -> tuple[int, int]:
    first, second = game.terms.stakes
    return second, first


def _coins(peer: Peer) -> list[dict[str, Any]]:
    """The channel's coins that the peer watches, as its newest block has them."""
    state = peer.state
    names = {peer.config.wallet.coin: "wallet"}
    if state.opening.opened is not None:
        names[state.opening.opened.channel.coin] = "channel"
    if state.dispute is not None and (lineage := state.dispute.lineage) is not None:
        if lineage.unroll is not None:
            # A spend that the store does not know may pay without an unroll coin.
            names.setdefault(lineage.unroll.coin, "unroll")
        for track in lineage.tracks:
            names |= {tracked.coin: f"game {tracked.game.id}" for tracked in track.coins}
    return [
        {
            "coin": seen.coin.id.hex(),
            "what": names[seen.coin],
            "amount": seen.coin.amount,
            "born": seen.born,
            "spent": seen.spent,
        }
        for seen in state.block.coins
        if seen.coin in names
    ]


def _due(peer: Peer) -> list[dict[str, Any]]:
    """What somebody has to do, and by which height (None: not known)."""
    state, side = peer.state, peer.config.side
    us, them = NAMES[side], NAMES[side.other]
    if state.phase in (Phase.OPENING, Phase.FUNDING):
        opened = state.opening.opened
        return [_duty("funding", them, opened.deadline)] if opened is not None else []
    if state.phase is Phase.FAILED and not peer.is_over and state.opening.opened is not None:
        last = watched_until(state.opening.opened, peer.config.agreement)
        return [_duty("watch for a late funding, up to this height", us, last)]
    if state.dispute is not None:
        return _due_on_chain(state.dispute, us, them) if state.phase is Phase.ON_CHAIN else []
    if state.phase is Phase.COMPLETED:
        return [_duty("publish the shutdown", us, None)]
    if state.phase not in (Phase.PLAYING, Phase.CLOSING):
        return []
    times = peer.config.agreement.times
    duties = [
        _duty(deadline.what, them, since + deadline.limit(times))
        for deadline, since in state.marks.items()
    ]
    if state.phase is Phase.PLAYING:
        duties += [
            _duty(deadline.what, us, None) for deadline in in_play(_mirrored(state), side.other)
        ]
    return duties


def _mirrored(state: PeerState) -> PlayState:
    """Play as the other side sees it, as far as its deadlines for us depend on it."""
    play = play_of(state)
    return replace(play, potato=not play.potato, we_asked=play.they_asked, they_asked=play.we_asked)


def _due_on_chain(dispute: Dispute, us: str, them: str) -> list[dict[str, Any]]:
    view, lineage = ChainView.of(dispute, dispute.block), dispute.lineage
    if lineage is None or lineage.channel is None:
        return [_duty("funding", them, dispute.deadline)]
    if lineage.channel.spent is None:
        return [_duty("publish the newest state", us, None)]
    if lineage.unroll is not None and lineage.unroll.spent is None:
        timeout = lineage.unroll.born + view.endpoint.channel.unroll_timeout
        number = lineage.published.number if lineage.published is not None else 0
        stale = number < dispute.newest.state.number and number % 2 != view.side
        if stale:
            return [_duty(f"preempt state {number}", us, timeout - 1)]
        return [_duty(f"pay out state {number}, from this height on", us, timeout)]
    duties = []
    for seen in dispute.block.coins:
        # Also of a game to which the lineage does not lead while the node hides how it began.
        tracked = dispute.tracked.get(seen.coin)
        if tracked is None or seen.spent is not None:
            continue
        game = tracked.game
        deadline = seen.born + game.coin.timeout
        if game.coin.infohash_b and view.peak < deadline:
            mover = us if game.mover is view.side else them
            duties.append(_duty(f"move in game {game.id}", mover, deadline - 1))
        else:
            duties.append(_duty(f"claim game {game.id}, from this height on", us, deadline))
    return duties


def _duty(what: str, who: str, height: int | None) -> dict[str, Any]:
    return {"what": what, "who": who, "height": height}


def overview_lines(channel: Mapping[str, Any]) -> Iterable[str]:
    """An overview as lines for a person."""
    yield f"side: {channel['side']}"
    if "phase" in channel:
        yield f"phase: {channel['phase']}, as of height {channel['height']}"
    yield (
        f"times in blocks: unroll timeout {channel['unroll_timeout']}, confirmation depth"
        f" {channel['confirmations']}, spacing {channel['spacing']}"
    )
    states = channel["states"]
    if states is None:
        yield "states: none is signed"
    else:
        yield f"states: newest {states['newest']}, newest that we can publish {states['completed']}"
        for name, balance in states["balances"].items():
            yield f"    {name}: a balance of {counted(balance, 'mojo')}"
    for game in channel["games"]:
        turn = {True: "; our turn", False: "; their turn"}.get(game.get("our_turn"), "")
        yield (
            f"game {game['id']}: {game['game']}, {counted(game['amount'], 'mojo')} at stake,"
            f" timeout {game['timeout']}{turn}"
        )
    for coin in channel.get("coins", ()):
        times = f"from {coin['born']}" + (f" to {coin['spent']}" if coin["spent"] else "")
        yield f"{coin['what']} coin {coin['coin']}: {counted(coin['amount'], 'mojo')}, {times}"
    for duty in channel.get("due", ()):
        height = f": height {duty['height']}" if duty["height"] is not None else ""
        yield f"due by the {duty['who']}: {duty['what']}{height}"
    if channel["hidden"]:
        yield f"hidden without the passphrase: {', '.join(channel['hidden'])}"
