"""Restarts that are tried beside a process that goes on: from the bytes that its store has by now.

A script ends a process at a few moments. What its store lacks for a few events only would rarely be
missed by one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from channelsim.channel.attack.monitors import differences
from channelsim.channel.attack.noted_store import NotedStore
from channelsim.channel.attack.trial_store import TrialStore
from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Effect,
    Proposed,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.replays import Replays
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.games.amounts import counted

EVENTS = 8
"""Events of the journal after which a restart is tried, as it is with the first one after a
snapshot."""


ENDING = 3
"""The newest states of which one may have a game that has only just ended."""


def is_due(store: NotedStore) -> bool:
    """True if a restart from what a store has would read something for the first time."""
    events = len(store.contents.events)
    return events % EVENTS == 0 or (bool(store.contents.snapshot) and events == 1)


def wrong_restart(
    config: Config,
    store: NotedStore,
    state: PeerState,
    lasting: tuple[bytes, ...],
    watched: set[Coin],
    replays: Replays | None = None,
) -> Iterator[str]:
    """Find what a process would lack, or do wrong, that began with the bytes of this store now.

    `lasting` are digests that it may have as the last message's. What trials before have
    replayed is not replayed again.
    """
    try:
        sealed = SealedStore(TrialStore(store.name, store.contents), config.secret)
        durable = DurablePeer(Peer(config), sealed, replays=replays)
        restarted = durable.peer.state
        effects = durable.start(state.block.peak)
    except StoreError as error:
        yield f"could not start again: {error}"
        return
    states = [state]
    states += [msgspec.structs.replace(state, last_received=digest) for digest in lasting]
    found = [differences(expected, restarted) for expected in states]
    if all(found):
        fewest = min(found, key=lambda names: len(names))
        yield f"would have other {', '.join(fewest)} after a restart"
    lost = watched - {effect.coin for effect in effects if isinstance(effect, Watch)}
    if lost:
        yield f"would not watch {len(lost)} of its coins after a restart"
    play = durable.peer.state.play
    if play is not None and play.decks.decks:
        yield "would go on with open decks after a restart (PD-12)"
    if len(store.contents.events) == 1:
        yield from _other_states(state, restarted)
        yield from _old_reveals(durable)
    yield from _unasked(config.side, state, effects)


def _other_states(state: PeerState, restarted: PeerState) -> Iterator[str]:
    """Find a state of the channel that a restart from a snapshot would have otherwise.

    Either side may publish any of them; a session does so with few.
    """
    if state.play is None or restarted.play is None:
        return
    for ours, read in zip(state.play.history, restarted.play.history, strict=False):
        if ours.state.number != read.state.number:
            yield f"would have no state {ours.state.number} after a restart"
            return
        if (ours.state, ours.signed) != (read.state, read.signed):
            yield f"would have another state {ours.state.number} after a restart"
            return


def _old_reveals(durable: DurablePeer) -> Iterator[str]:
    """Find early reveals, in a store after a snapshot, of games that ended before that.

    The event after the snapshot may have ended games as well.
    """
    play = durable.peer.state.play
    if play is not None:
        newest = list(play.history)[:ENDING]
        live = {game.id for link in newest for game in link.state.games}
        if old := {reveal.game_id for reveal in durable.reveals} - live:
            yield f"would keep early reveals of {counted(len(old), 'game')} that ended long before"


def _unasked(side: int, state: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find proposals and turns that wait for the player, of which a restart would not ask it."""
    play = state.play
    asked = [effect.news for effect in effects if isinstance(effect, Tell)]
    groups = {news.group.id for news in asked if isinstance(news, Proposed)}
    turns = {news.game_id for news in asked if isinstance(news, YourTurn)}
    if state.dispute is not None:
        for game_id in state.dispute.undecided.keys() - turns:
            yield f"would not ask for a move on chain in game {game_id} after a restart"
        return
    if state.phase is not Phase.PLAYING or play is None:
        return
    answered = {
        command.group_id for command in play.queue if isinstance(command, AcceptGames | CancelGames)
    }
    decided = {command.game_id for command in play.queue if isinstance(command, Act)}
    for group in play.state.groups:
        if group.proposer != side and group.id not in answered | groups:
            yield f"would not ask about proposal {group.id} after a restart"
    for game in play.state.games if play.potato else ():
        player = play.players.get(game.id)
        is_open = player is not None and len(player.choices()) > 1
        if game.mover == side and is_open and game.id not in decided | turns:
            yield f"would not ask for a move in game {game.id} after a restart"
