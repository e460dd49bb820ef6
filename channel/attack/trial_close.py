"""A trial beside each process: its player wants to close while decisions wait that begin games.

Such a wish hardly ever meets a decision that waits for the potato. The machine is pure, so that it
can be tried on the state of a peer, which goes on as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import AcceptGames, Close, NotProposed, ProposeGames, Tell
from channelsim.channel.peer.machine import transition
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.games.amounts import counted

BEGIN = (AcceptGames, ProposeGames)
"""Commands that begin games."""


def wrong_close(config: Config, before: PeerState | None, state: PeerState) -> Iterator[str]:
    """Find what a peer would still begin if its player closed now; tried where new wishes wait."""
    play = state.play
    if play is None or play.closing or state.phase is not Phase.PLAYING:
        return
    beginning = [command for command in play.queue if isinstance(command, BEGIN)]
    known = before.play.queue if before is not None and before.play is not None else ()
    if not beginning or play.queue == known:
        return
    closed, effects = transition(config, state, Close())
    queue = closed.play.queue if closed.play is not None else ()
    left = sum(isinstance(command, BEGIN) for command in queue)
    if left:
        yield f"would begin games by {counted(left, 'decision')} after its player closes"
    news = [effect.news for effect in effects if isinstance(effect, Tell)]
    told = sum(isinstance(report, NotProposed) for report in news)
    due = sum(isinstance(command, ProposeGames) for command in beginning)
    if told != due:
        yield f"would tell its player of {told} of {counted(due, 'proposal')} that it drops"
