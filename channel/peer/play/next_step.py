"""The next step of a peer in play: to wait, to ask for the potato, to send it, or to shut down.

Everything follows from the state of play. Source: spec/channel.md, "The potato" and "Clean
shutdown".
"""

from __future__ import annotations

from enum import Enum, auto

from channelsim.channel.peer import interface
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.play import sending
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.state_history import StateHistory

IDLE_BATCHES = 32
"""Batches in a row that accept, move and settle nothing, after which others like them wait for the
next block. Two sides that give the potato to and fro would otherwise use up their states in
seconds."""


class Step(Enum):
    """Actions that a peer can take now."""

    WAIT = auto()
    ASK = auto()
    SEND = auto()
    SEND_WITH_BLOCK = auto()
    SHUT_DOWN = auto()


def next_step(endpoint: Endpoint, play: PlayState, turns: sending.Turns) -> Step:
    """The next step, by our turns. The shutdown comes before anything else that could be sent."""
    if not play.potato:
        return Step.ASK if needs_potato(endpoint, play) else Step.WAIT
    if shuts_down(play):
        return Step.SHUT_DOWN
    acts = any(turns.values())
    owed = play.closing and _they_owe(endpoint, play)
    if not play.they_asked:
        if not all(turns.values()) or not (owed or play.queue or acts):
            return Step.WAIT
        if play.state.groups and not play.closing and sending.unanswered(endpoint, play):
            # The answers are to be in the same batch, but no act waits longer for them.
            return Step.SEND_WITH_BLOCK if acts else Step.WAIT
    wanted = any(not isinstance(command, interface.CancelGames) for command in play.queue)
    urgent = owed or wanted or acts or not is_idle(play.history)
    return Step.SEND if urgent else Step.SEND_WITH_BLOCK


def shuts_down(play: PlayState) -> bool:
    """True if the player wants to close the channel, and no game is live."""
    return play.closing and not play.state.games


def needs_potato(endpoint: Endpoint, play: PlayState) -> bool:
    """True if there is something to send.

    While the channel is being closed, the other side is not asked for the potato if it owes a move:
    it could return it without one, and its move time would start again. What we have to ask for
    (`ask_later`) is an exception.
    """
    if not play.closing or not play.state.games:
        return bool(play.queue) or shuts_down(play)
    decided = any(isinstance(command, interface.Act) for command in play.queue)
    return decided and (play.ask_later or not _they_owe(endpoint, play))


def is_idle(history: StateHistory) -> bool:
    """True if the last batches of both sides accepted, moved and settled nothing.

    Another batch can then wait for the next block.
    """
    newest = [link.state.games for link, _ in zip(history, range(IDLE_BATCHES + 1), strict=False)]
    return len(newest) > IDLE_BATCHES and all(games == newest[0] for games in newest)


def _they_owe(endpoint: Endpoint, play: PlayState) -> bool:
    return any(game.mover is not endpoint.side for game in play.state.games)
