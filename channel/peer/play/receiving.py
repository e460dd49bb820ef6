"""Validation of the other side's batches: every field is recomputed.

A violation changes nothing; but a batch that is valid except for moves that we can slash becomes
our newest state, and is published. Source: spec/channel.md, "Moves".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from channelsim.channel.errors import Violation
from channelsim.channel.peer.decks.pool import DeckPool, name, reason_against
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    CancelGames,
    Effect,
    Moved,
    Proposed,
    Send,
    Tell,
)
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.peer.slashable import SlashableMove, slashable_move
from channelsim.channel.protocol.half_signed import check_halves
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    Batch,
    BatchAction,
    Cancel,
    Move,
    Propose,
    encode,
)
from channelsim.channel.protocol.proposals import reason_to_refuse
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.protocol.state import ChannelState, Group, LiveGame
from channelsim.channel.protocol.transitions import Settled, apply
from channelsim.games import registry
from channelsim.games.contract import Player
from channelsim.games.judge import Ruling, hashes_of, judge_move
from channelsim.games.referee import RefereeRefusal


class IllegalMoves(msgspec.Struct, frozen=True):
    """The illegal moves of a batch: the violation of the first, and the slash of each, by game."""

    violation: Violation
    slashable: tuple[tuple[int, SlashableMove], ...]


class ReceivedBatch(msgspec.Struct, frozen=True):
    """The state of play after a batch, and the effects of the batch.

    `illegal` are moves that we can slash. The state is then the one that the batch declares, and
    the newest that we can publish.
    """

    play: PlayState
    effects: list[Effect]
    illegal: IllegalMoves | None


class _Judged(msgspec.Struct, frozen=True):
    """A move of the batch, the game after it, and our ruling; our seat is as before the move."""

    game: LiveGame
    player: Player
    ruling: Ruling


def receive_batch(endpoint: Endpoint, play: PlayState, batch: Batch) -> ReceivedBatch:
    """Validate an incoming batch, recomputing every field. Raises `Violation`."""
    if play.potato:
        raise Violation("CH-BATCH-1", "a batch while we hold the potato")
    if batch.number != play.state.number + 1:
        raise Violation("CH-BATCH-2", f"state {batch.number} after {play.state.number}")
    judged: list[_Judged] = []
    judge = partial(_judge, endpoint, play, judged)
    sender = endpoint.side.other
    owed = {game.id: game.coin for game in play.state.games if game.mover is sender}
    state, settled = apply(endpoint.channel, play.state, sender, batch.actions, judge)
    left = [game.id for game in state.games if owed.get(game.id) == game.coin]
    if left and not play.we_asked:
        raise Violation(
            "CH-BATCH-6", f"no action in game {left[0]}, and we had not asked for the potato"
        )
    signed = check_halves(endpoint.channel, sender, state, (batch.channel_half, batch.unroll_half))
    legal = [move for move in judged if move.ruling.legal]
    illegal = [move for move in judged if not move.ruling.legal]
    slashable = _slashable_moves(endpoint, illegal) if illegal else ()
    proposes = [action for action in batch.actions if isinstance(action, Propose)]
    decks, unfit = _unfit(endpoint, play.decks, proposes) if proposes else (play.decks, {})
    if slashable:
        unfit = {}  # proposals are no longer answered
    seats = {
        game.id: endpoint.new_player(game) for game in state.games if game.id not in play.players
    }
    seats |= {move.game.id: move.player.moved(move.game.position) for move in legal}
    after = replace(
        play.after(sender, batch, state, signed, seats),
        newest=signed,
        potato=True,
        decks=decks,
        we_asked=False,
        ask_later=False,
        queue=(*play.queue, *(CancelGames(*refused) for refused in unfit.items())),
    )
    return ReceivedBatch(
        after,
        _news(endpoint, play.state, batch.actions, legal, seats, settled, unfit),
        IllegalMoves(_violation(illegal[0]), slashable) if slashable else None,
    )


def early_reveals(endpoint: Endpoint, before: ChannelState, play: PlayState) -> list[Effect]:
    """Reveal early what the other side may see, in games in which it has just moved."""
    effects: list[Effect] = []
    for game in play.state.games:
        was = before.game(game.id)
        if game.mover is not endpoint.side or (was is not None and was.coin == game.coin):
            continue
        player = play.players.get(game.id)
        data = player.advisory() if player else None
        if data is not None:
            effects.append(Send(encode(Advisory(game.id, data))))
    return effects


def _judge(
    endpoint: Endpoint, play: PlayState, judged: list[_Judged], game: LiveGame, action: Move
) -> LiveGame:
    """The game after a move of the other side, which is judged as well."""
    player = play.players.get(game.id) or endpoint.new_player(game)
    before = game.position
    try:
        coin = game.coin.after(action.move, action.commitment, action.share, action.max_move_size)
    except RefereeRefusal as refusal:
        raise Violation(refusal.rule, f"game {game.id}: {refusal}") from None
    rules = registry.get(game.terms.game)
    candidates = player.evidence(before, action.move)
    ruling = judge_move(rules, hashes_of(rules), before, coin, candidates)
    judged.append(_Judged(game.after(coin, ruling.next), player, ruling))
    return judged[-1].game


def _slashable_moves(
    endpoint: Endpoint, illegal: Sequence[_Judged]
) -> tuple[tuple[int, SlashableMove], ...]:
    """The slash of each illegal move, by game. Raises `Violation` if one cannot be slashed."""
    moves: list[tuple[int, SlashableMove]] = []
    for move in illegal:
        slashable = slashable_move(endpoint, move.game, move.ruling)
        if slashable is None:
            raise _violation(illegal[0])
        moves.append((move.game.id, slashable))
    return tuple(moves)


def _unfit(
    endpoint: Endpoint, decks: DeckPool, proposes: Sequence[Propose]
) -> tuple[DeckPool, dict[int, str]]:
    """The reasons to cancel new proposals without asking the player, by group.

    Every deck that they name is taken out of the pool.
    """
    reasons: dict[int, str] = {}
    for propose in proposes:
        group = Group(endpoint.side.other, propose.offers)
        reason = reason_against(decks, group.decks())
        reason = reason or reason_to_refuse(
            endpoint.channel, group, endpoint.confirmations, endpoint.spacing
        )
        if reason is not None:
            reasons[group.id] = reason
        decks = name(decks, group.decks())
    return decks, reasons


def _violation(move: _Judged) -> Violation:
    # If only evidence slashes the move, the rules of the game name no rule that it breaks.
    rule = (move.ruling.rule or "CH-MOVE-5") if move.ruling.evidence is not None else "CH-MOVE-4"
    said = registry.get(move.game.terms.game).rules.get(rule) or RULES.get(rule, "")
    before = move.game.before
    where = before.position.validator if before else ""
    return Violation(rule, f"game {move.game.id}, {where}: {said}")


def _news(
    endpoint: Endpoint,
    before: ChannelState,
    actions: Sequence[BatchAction],
    judged: Sequence[_Judged],
    seats: Mapping[int, Player],
    settled: Sequence[Settled],
    unfit: Mapping[int, str],
) -> list[Effect]:
    news: list[Effect] = [Tell(endpoint.settled(ended)) for ended in settled]
    for action in actions:
        group = before.group(action.group_id) if isinstance(action, Cancel | Accept) else None
        if group is None:
            continue
        if isinstance(action, Cancel):
            news.append(Tell(endpoint.cancelled(group, action.reason)))
        else:
            news += map(Tell, endpoint.started(group))
    for move in judged:
        game, ruling = move.game, move.ruling
        player, runs = seats[game.id], ruling.runs
        news.append(Tell(Moved(game.id, game.position, player, runs, ruling.disagreements)))
    for action in actions:
        if isinstance(action, Propose):
            group = Group(endpoint.side.other, action.offers)
            if group.id not in unfit:
                news.append(Tell(Proposed(group)))
    return news
