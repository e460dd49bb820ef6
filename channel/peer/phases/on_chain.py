"""Transitions of a channel on chain: commands and pins; messages are ignored."""

from __future__ import annotations

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Act, GoOnChain, Ignored, Pinned, Tell
from channelsim.channel.peer.onchain.dispute import act
from channelsim.channel.peer.onchain.unpinning import unpin
from channelsim.channel.peer.peer_state import PeerState, Transition
from channelsim.channel.peer.phases.leaving import leave, with_dispute


def on_go_on_chain(config: Config, state: PeerState, command: GoOnChain) -> Transition:
    """Close the channel unilaterally, because the player wants to."""
    return leave(config, state, command.reason)


def on_act(config: Config, state: PeerState, command: Act) -> Transition:
    """Take the player's decision in a game on chain. Raises `UsageError`."""
    if state.dispute is None:
        raise UsageError(f"{config.name} is in {state.phase.value}: not now")
    return with_dispute(state, *act(state.dispute, command.game_id, command.action))


def on_pinned(config: Config, state: PeerState, pinned: Pinned) -> Transition:
    """Offer a fee that unpins our spends."""
    if state.dispute is None:
        return state, []
    return state, unpin(state.dispute, pinned.bundle, pinned.pending)


def ignore(config: Config, state: PeerState, message: object) -> Transition:
    """Ignore what the other side sends: only the chain counts now."""
    return state, [Tell(Ignored(f"a message after {state.phase.value}"))]
