"""Faults that a third review has planted in the engine: rare, but reachable by sessions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace as replaced
from typing import Any
from unittest import mock

from msgspec.structs import replace

from channelsim.channel.peer import machine
from channelsim.channel.peer.chain_news import Undone
from channelsim.channel.peer.interface import Tell, Watch
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain import decisions, reading, scan, scan_games
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.peer.phases import blocks, leaving, playing, resuming
from channelsim.channel.peer.phases import decks as deck_phases
from channelsim.channel.peer.play import receiving, sending
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.state import Channel
from channelsim.games.calpoker.deal import deal
from channelsim.games.calpoker.player import CalPokerPlayer, KnownCards
from channelsim.games.errors import BadAdvisory
from channelsim.games.poker import player
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.states import Draw, Show
from channelsim.games.spacepoker import player as spacepoker
from channelsim.games.spacepoker.player import SpacePokerPlayer
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    Reach,
    all_of,
    changing,
    compared,
    marking,
)

# --- on chain ------------------------------------------------------------------------------------


def _later(blocks_later: int) -> Callable[..., Any]:
    return lambda right, view: right(replace(view, peak=view.peak - blocks_later))


def _moves_alone(right: Any, endpoint: Any, tracked: Any, action: Any) -> Any:
    found = right(endpoint, tracked, action)
    moves = {coin: after for coin, after in found.decided.items() if after is not None}
    return replace(found, decided=moves)


def _timed_out(right: Any, view: Any, track: Any) -> Any:
    if not track.hidden:
        return right(view, track)
    game, spent = track.tip.game, track.tip_seen.spent
    ours = game.shares()[view.side]
    return decisions.Payout(ours, game.coin.amount - ours, view.deep(spent))


def _without_seat(right: Any, games: Any, state: Any, game: Any) -> Any:
    return right(games, state, game) if games.history.state.game(game.id) else None


def _preempted_only(right: Any, games: Any, state: Any, coins: Any, *, timed_out: bool) -> Any:
    return right(games, state, coins, timed_out=False)


def _mirrored(right: Any, games: Any, game_id: int) -> Any:
    ended = right(games, game_id)
    return ended[::-1] if ended is not None and games.endpoint.side else ended


def _at_once(right: Any, view: Any, state: Any, tracks: Any, height: int) -> Any:
    depth = 0 if tracks else view.endpoint.confirmations
    return right(view, state, tracks, height - depth)


def _without_wallets(transition: Any) -> Any:
    state, effects = transition
    coins = state.opening.opened.wallet_coins
    return state, [one for one in effects if not (isinstance(one, Watch) and one.coin in coins)]


def _kept_close(right: Any, config: Any, state: Any, *given: Any) -> Any:
    after, effects = right(config, state, *given)
    if state.closed is None or after.closed is not None:
        return after, effects
    undone = Tell(Undone(state.closed))
    return replace(after, closed=state.closed), [one for one in effects if one != undone]


def _over_at_once(stack: ExitStack, reach: Reach) -> None:
    right: Any = Peer.__dict__["is_over"]

    def is_over(peer: Peer) -> bool:
        over: bool = right.fget(peer)
        wrong = peer.phase is Phase.FAILED and peer.state.dispute is not None
        if wrong and not over:
            reach.mark()
        return over or (wrong and not reach.probes)

    stack.enter_context(mock.patch.object(Peer, "is_over", property(is_over)))


def _complete(transition: Any) -> Any:
    state, effects = transition
    return (
        replace(state, phase=Phase.COMPLETED) if state.phase is Phase.CLOSING else state
    ), effects


# --- play ----------------------------------------------------------------------------------------


def _first_early(right: Any, config: Any, state: Any) -> Any:
    return right(config, replace(state, early=state.early[:1]))


def _without_funding(right: Any, state: Any, message: Any) -> Any:
    play = state.play
    is_first = play.potato and play.state.number == 1
    return [] if is_first and state.phase is not Phase.CLOSING else right(state, message)


def _asking_later(right: Any, endpoint: Any, play: Any, batch: Any) -> Any:
    received = right(endpoint, play, batch)
    return replace(received, play=replace(received.play, ask_later=play.ask_later))


def _old_seats(right: Any, endpoint: Any, before: Any, actions: Any, judged: Any, seats: Any,
               *more: Any) -> Any:  # fmt: skip
    old = {move.game.id: move.player for move in judged}
    return right(endpoint, before, actions, judged, {**seats, **old}, *more)


def _as_paid(right: Any, channel: Channel, state: Any) -> Any:
    paid = ("paid", state.balances, *(game.coin for game in state.games))
    known: Any = channel._known  # noqa: SLF001
    return known.setdefault(paid, right(channel, state))


def _refusals(**other: Any) -> Planting:
    return changing(PlayState, "_refusal_after", lambda one: one and replace(one, **other))


# --- what players know ---------------------------------------------------------------------------


def _believing(owner: Any, reads: Callable[[Any, bytes], Any]) -> Planting:
    """A player that takes an early reveal for true that does not open a commitment."""

    def advised(reach: Reach, right: Any, player: Any, data: bytes) -> Any:
        try:
            return right(player, data)
        except BadAdvisory as error:
            if "does not open the opponent's commitment" not in f"{error}":
                raise
            reach.mark()
            if reach.probes:
                raise
            return reads(player, data)

    return marking(owner, "advised", advised, advised)


def _deal(player: Any, data: bytes) -> Any:
    hands = deal(data[:16].ljust(16), player.position.state.seed, player.terms.amount)
    return replace(player, cards=KnownCards(hands))


def _value(player: Any, data: bytes) -> Any:
    street = player.position.state.street
    return replace(player, known=spacepoker.ChainValue(street, data[:32].ljust(32)))


def _older_board(right: Any, before: Any, *given: Any) -> Any:
    return replaced(right(before, *given), board=before.board)


def _early(right: Any, seat: Any) -> Any:
    state = seat.position.state
    if seat.position.mover is seat.seat and isinstance(state, Draw | Show):
        return seat._owed(state.table, state.pending) or None  # noqa: SLF001
    return right(seat)


# --- decks ---------------------------------------------------------------------------------------


def _erased_with_its_end(right: Any, endpoint: Any, play: Any, **more: Any) -> Any:
    newest = replace(play.newest, state=play.state)
    return right(endpoint, replace(play, newest=newest), **more)


FROM_ENGINE_REVIEW = (
    Fault(
        "unfunded-late-on-chain",
        "chain",
        "a peer that has left gives the funding up one block late",
        compared(scan, "_unfunded", _later(1)),
    ),
    Fault(
        "unfunded-early-on-chain",
        "chain",
        "a peer that has left gives the funding up one block early",
        compared(scan, "_unfunded", _later(-1)),
    ),
    Fault(
        "ends-unfunded-on-chain",
        "engine",
        "a peer that has left ends with the deadline of the funding, which can still get in",
        _over_at_once,
    ),
    Fault(
        "leaves-without-its-wallets",
        "chain",
        "a peer that leaves before the funding does not look at the coins that fund",
        changing(leaving, "_publish", _without_wallets),
    ),
    Fault(
        "forgets-folds-on-chain",
        "chain",
        "a decision on chain to make no move is not kept",
        all_of(
            compared(scan, "record_decision", _moves_alone),
            compared(scan_games, "record_decision", _moves_alone),
        ),
    ),
    Fault(
        "hidden-games-time-out",
        "chain",
        "a game coin whose spend the node hides counts as timed out",
        compared(scan_games, "payout", _timed_out),
    ),
    Fault(
        "no-seat-in-older-states",
        "chain",
        "a peer has no seat in a game that is over in its newest state, and live in the one paid",
        compared(SignedGames, "player_at", _without_seat),
    ),
    Fault(
        "hides-hidden-timeouts",
        "chain",
        "a published state that its timeout has paid is not known while the node hides the spend",
        compared(SignedGames, "paying", _preempted_only),
    ),
    Fault(
        "compares-the-others-share",
        "chain",
        "whether a game ended as off chain goes by the other side's share",
        compared(SignedGames, "ended_off_chain", _mirrored),
    ),
    Fault(
        "settled-with-the-payout",
        "chain",
        "a channel without games is settled before its payout is final",
        compared(scan, "scan_games", _at_once),
    ),
    Fault(
        "unknown-payouts-time-out",
        "chain",
        "a state that an old copy does not know counts by its timeout, however it was paid",
        changing(
            reading, "_unknown_payout", lambda found: found and replace(found, preempted=False)
        ),
    ),
    Fault(
        "keeps-a-replaced-shutdown",
        "engine",
        "a final shutdown stays final, though another close has taken its place",
        compared(blocks, "_on_spent", _kept_close),
    ),
    Fault(
        "half-a-shutdown-is-complete",
        "engine",
        "of a shutdown that a reorganisation took away, half counts as all",
        changing(blocks, "_shut_down_again", _complete),
    ),
    Fault(
        "handles-one-early-message",
        "engine",
        "of the messages that came before play, only the first is handled",
        compared(machine, "_on_block", _first_early),
    ),
    Fault(
        "repeats-no-completed-funding",
        "engine",
        "the completed funding is not repeated on a new connection",
        compared(resuming, "_repeated", _without_funding),
    ),
    Fault(
        "asks-for-what-it-has",
        "engine",
        "that the potato is to be asked for is not forgotten when it comes",
        compared(playing, "receive_batch", _asking_later),
    ),
    Fault(
        "asks-in-one-game",
        "engine",
        "of several games that wait for its player, it is asked in one",
        changing(sending, "your_turns", lambda effects: effects[:1]),
    ),
    Fault(
        "tells-of-moves-with-old-seats",
        "engine",
        "news of a move have the seat before it",
        compared(receiving, "_news", _old_seats),
    ),
    Fault(
        "remembers-states-by-what-they-pay",
        "engine",
        "states that pay the same are remembered as one",
        compared(Channel, "on_chain", _as_paid),
    ),
    Fault(
        "takes-lost-decks-for-refusals",
        "engine",
        "a proposal that was cancelled for its deck counts as refused",
        _refusals(deck_lost=False),
    ),
    Fault(
        "takes-refusals-for-lost-decks",
        "engine",
        "a proposal that was refused counts as one whose deck is lost",
        _refusals(deck_lost=True),
    ),
    Fault(
        "refuses-its-own",
        "engine",
        "a proposal that was refused counts as that of the side that refused it",
        changing(PlayState, "_refusal_after", lambda one: one and replace(one, proposer=one.by)),
    ),
    Fault(
        "believes-early-deals",
        "engine",
        "a player of calpoker believes any early reveal",
        _believing(CalPokerPlayer, _deal),
    ),
    Fault(
        "believes-early-values",
        "engine",
        "a player of space poker believes any early reveal",
        _believing(SpacePokerPlayer, _value),
    ),
    Fault(
        "sees-an-older-board",
        "engine",
        "a player sees the board of a street before",
        compared(player, "known_cards", _older_board),
    ),
    Fault(
        "sees-its-own-hand-twice",
        "engine",
        "a player sees its own hand where the other side shows another one",
        compared(
            player,
            "shown_last",
            lambda right, *given: replaced(cards := right(*given), others=cards.own),
        ),
    ),
    Fault(
        "sees-no-shown-hand",
        "engine",
        "a player does not see the hand that ends a game",
        compared(player, "shown_last", lambda right, before, move, cards: cards),
    ),
    Fault(
        "shows-before-it-draws",
        "decks",
        "a player opens early what it need not open yet",
        compared(PokerPlayer, "advisory", _early),
    ),
    Fault(
        "erases-with-the-end",
        "decks",
        "the locks of a deck are erased with the batch that ends its game, which may be lost",
        all_of(
            compared(deck_phases, "erase", _erased_with_its_end),
            compared(playing, "erase", _erased_with_its_end),
        ),
    ),
)
"""Faults of this kind."""
