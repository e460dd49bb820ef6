"""The duty of a command that ends a channel: it asks for the end as soon as that is possible."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.peer.peer_state import PeerState, Phase

RECOVER, CLOSE = "run-recover", "run-close"
"""The actions that run these commands."""

LEAVES_FROM = (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING)
"""The phases in which a side can go on chain."""


def not_asked_for(command: str | None, state: PeerState) -> Iterator[str]:
    """Find an end that a command should have asked for: a state in which it looks at the chain
    again."""
    if command == RECOVER and state.phase in LEAVES_FROM:
        yield f"`recover` does not go on chain in the phase {state.phase.value}"
    is_open = state.phase is Phase.PLAYING and state.play is not None
    if command == CLOSE and is_open and state.play is not None and not state.play.closing:
        yield "`close` does not ask for the shutdown"
