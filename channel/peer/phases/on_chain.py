"""Transitions of a channel on chain: commands; messages are ignored."""

from __future__ import annotations

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Act, GoOnChain, Ignored, Tell
from channelsim.channel.peer.onchain.scan import act
from channelsim.channel.peer.peer_state import PeerState, Phase, Transition
from channelsim.channel.peer.phases.leaving import leave, publish_old, with_dispute


def on_go_on_chain(config: Config, state: PeerState, command: GoOnChain) -> Transition:
    """Close the channel unilaterally, because the player wants to."""
    return leave(config, state, command.reason)


def on_publish_old(config: Config, state: PeerState, command: GoOnChain) -> Transition:
    """Publish what an old copy of the store can complete. Raises `UsageError` for other stores."""
    if not command.old_copy and state.phase is Phase.OUTDATED:
        raise of_an_old_copy(config)
    if not command.old_copy or state.shown is None:
        raise UsageError(f"{config.name} is in {state.phase.value}: not now")
    return publish_old(config, state, command.reason)


def of_an_old_copy(config: Config) -> UsageError:
    """The refusal of a command by a peer that runs on an old copy of its store."""
    return UsageError(
        f"the store of {config.name} is an old copy: it signs nothing any more, and waits until"
        " the other side closes the channel"
    )


def on_act(config: Config, state: PeerState, command: Act) -> Transition:
    """Take the player's decision in a game on chain. Raises `UsageError`."""
    if state.dispute is None:
        raise UsageError(f"{config.name} is in {state.phase.value}: not now")
    return with_dispute(state, *act(state.dispute, command.game_id, command.action))


def ignore(config: Config, state: PeerState, message: object) -> Transition:
    """Ignore what the other side sends: only the chain counts now."""
    return state, [Tell(Ignored(f"a message after {state.phase.value}"))]
