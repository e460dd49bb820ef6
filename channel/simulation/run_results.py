"""Classify a run for the matrix: where the adversary deviated, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    GamePaid,
    MovedOnChain,
    StateCounts,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    Batch,
    Cancel,
    DeckAbort,
    DeckStep,
    Move,
    Propose,
    Request,
    Resume,
    Settle,
    Shutdown,
    ShutdownDone,
    decode,
)
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.simulation.promises.news import valid_news
from channelsim.channel.simulation.run import Run
from channelsim.games import registry

HANDSHAKE, PROPOSAL, SETTLEMENT, POTATO, SHUTDOWN = (
    "handshake",
    "proposal",
    "settlement",
    "potato",
    "shutdown",
)


class RunResult(Enum):
    """The result of a run for the honest side; the first of these that fits."""

    NO_CHANNEL = "no channel"
    CLOSED = "closed"
    SLASHED = "slashed"
    PREEMPTED = "preempted"
    PLAYED = "played on chain"
    PAID = "paid out"


def columns(games: Iterable[str]) -> tuple[str, ...]:
    """All parts of a session with these games, in the order of play."""
    parts = dict.fromkeys(part for game in games for part in registry.get(game).parts)
    return (HANDSHAKE, PROPOSAL, *parts, SETTLEMENT, POTATO, SHUTDOWN)


def part_of(run: Run) -> str:
    """The part of the session in which the adversary deviated, by its last message.

    Without an adversary, that in which the honest side was restored from an old copy.
    """
    if run.scenario.old_copy and not run.scenario.adversary:
        honest, other = (run.parties[one] for one in (run.scenario.honest, run.scenario.side))
        last = honest.sent[: run.scenario.old_copy][-1:]
        return _part(last[0], other.peer) if last else HANDSHAKE
    actor = run.parties[run.scenario.side].actor
    if not isinstance(actor, Adversary) or not actor.deviated_at:
        return HANDSHAKE
    return _part(actor.intended[actor.deviated_at - 1], actor.peer)


def _part(message: bytes, peer: Peer) -> str:
    """The part of the session that a message belongs to; the peer knows the states."""
    match decode(message):
        case Batch() as batch:
            return _main(batch, peer.play.history.numbered(batch.number - 1))
        case Shutdown() | ShutdownDone():
            return SHUTDOWN
        case Request() | Resume() | Advisory() | DeckStep() | DeckAbort():
            return POTATO
        case _:
            return HANDSHAKE


def _main(batch: Batch, before: ChannelState | None) -> str:
    """The part of the session that a batch belongs to: that of a move, if it has one."""
    kinds = {type(action) for action in batch.actions}
    for action in batch.actions:
        game = before.game(action.game_id) if isinstance(action, Move) and before else None
        if game is not None:
            return registry.get(game.terms.game).part(game.position)
    if Settle in kinds:
        return SETTLEMENT
    return PROPOSAL if kinds & {Propose, Accept, Cancel} else POTATO


def result_of(run: Run) -> RunResult:
    """Classify a run by the honest side's news."""
    valid = valid_news(run.parties[run.scenario.honest].news)
    if any(isinstance(news, ChannelClosed) for news in valid):
        return RunResult.CLOSED
    state = next((news for news in valid if isinstance(news, StateCounts)), None)
    if state is None:
        return RunResult.NO_CHANNEL
    if any(isinstance(news, GamePaid) and news.slashed == "us" for news in valid):
        return RunResult.SLASHED
    if state.preempted:
        return RunResult.PREEMPTED
    moved = any(isinstance(news, MovedOnChain) for news in valid)
    return RunResult.PLAYED if moved else RunResult.PAID
