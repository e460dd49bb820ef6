"""A player that wants nothing but the end of the channel: by a shutdown, or on chain."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.peer.interface import (
    CancelGames,
    Close,
    Command,
    GoOnChain,
    Proposed,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer, PeerState, Phase
from channelsim.channel.session.questions import Deciding, take_turn


@dataclass(slots=True)
class EndingPlayer:
    """Ends a channel; `decide` plays the games that are live. It begins no others.

    With a `reason` it goes on chain at once, and plays on there. Without one it asks for the
    shutdown, and first plays the games to their end. With `old_copy` it goes on chain from an old
    copy of the store, too.
    """

    peer: Peer
    decide: Deciding
    reason: str | None = None
    old_copy: bool = False

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        """Refuse all games, and play those that are live: on chain, if we are to go there."""
        state = self.peer.state
        if self.reason is not None and state.dispute is None:
            return self.next_command()
        match question:
            case Proposed(group):
                return CancelGames(group.id, "the channel is to be closed")
            case YourTurn(game_id):
                return take_turn(self.peer, game_id, self.decide)

    def next_command(self) -> Command | None:
        """Ask for the end, as long as nobody has."""
        state = self.peer.state
        if self.reason is not None:
            wanted = state.phase in (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING)
            if wanted or (self.old_copy and has_unpublished_copy(state)):
                return GoOnChain(self.reason, self.old_copy)
            return None
        if state.phase is not Phase.PLAYING or self.peer.play.closing:
            return None
        return Close()


def has_unpublished_copy(state: PeerState) -> bool:
    """True if a peer waits for the other side's close because its store is an old copy."""
    if state.shown is None or state.phase not in (Phase.OUTDATED, Phase.ON_CHAIN):
        return False
    return state.dispute is None or not state.dispute.publishes_old


def nothing_left(peer: Peer) -> bool:
    """True if nothing is left to take, or nothing that funds the channel was ever signed."""
    return peer.is_over or (peer.phase is Phase.OPENING and peer.state.opening.opened is None)
