"""Older copies of a side's folder, and what is promised to a side that goes on from one.

A copy is what a user's backup has: the store and the watcher's data as of an earlier event, without
what the peer has signed since.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from channelsim.channel.attack.actions import Action
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Command, GoOnChain
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.half_signed import unroll_coin
from channelsim.channel.session.ending_player import has_unpublished_copy
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.news import failures
from channelsim.channel.simulation.promises.old_copies import broken_to_copy, restored
from channelsim.channel.simulation.promises.safety import channel_coin, losses
from channelsim.channel.simulation.run import Run
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import LOCK, SqliteStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch.watch_data import FOLDER, STATES, read_states

RECOVERY = "recovery"
"""The reason for which `recover` goes on chain."""

OVER = (Phase.OPENING, Phase.FAILED, Phase.CLOSED)
"""Phases in which nothing is signed that a copy could lack, or nothing is left to do."""


@dataclass(slots=True)
class OldCopies:
    """The copies of a folder that the actions of its side need.

    Each is made once the channel's states are signed: before that there is nothing to lose. Beside
    an honest side, the copy may take the place of the folder of a peer `in_dispute`; a hostile one
    could leave the coin of a forgotten state unspent for ever.
    """

    folder: Path
    actions: Sequence[Action]
    in_dispute: bool = True
    times: int = 0
    _events: int = 0
    _made: dict[Action, Path] = field(default_factory=dict)

    def before_event(self, state: PeerState) -> None:
        """Count an event of the peer, and make the copies that are due before it."""
        for number, action in enumerate(self.actions):
            due = self._events >= action.at - 1 - action.amount and state.play is not None
            if due and action not in self._made:
                self._made[action] = self.folder.with_name(f"{self.folder.name} copy {number}")
                copy_folder(self.folder, self._made[action])
        self._events += 1

    def can_restore(self, action: Action, state: PeerState) -> bool:
        """True if there is a copy for this action, and something left to do."""
        if state.dispute is not None and not self.in_dispute:
            return False
        return action in self._made and state.phase not in OVER

    def used_alone(self, action: Action, config: Config) -> Iterator[str]:
        """Find a copy of the store that is used beside newer data of its watcher.

        They are the one sign that states are missing of which the other side says nothing.
        """
        alone = self.folder.with_name(f"{self.folder.name} with another store")
        copy_folder(self._made[action], alone)
        shutil.rmtree(alone / FOLDER, ignore_errors=True)
        try:
            shutil.copytree(self.folder / FOLDER, alone / FOLDER)
            yield from _used(config, alone)
        except (StoreError, UsageError, FileNotFoundError):
            return  # it is refused, or there are no whole data of a watcher
        finally:
            shutil.rmtree(alone)

    def restore(self, action: Action) -> None:
        """Put the copy in the place of the folder, whose store is closed."""
        self.times += 1
        shutil.rmtree(self.folder)
        copy_folder(self._made[action], self.folder)


def copy_folder(source: Path, target: Path) -> None:
    """Copy the files of a side, whose process may run."""
    # The index of the log is rebuilt from the log.
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*-shm", LOCK))


def _used(config: Config, folder: Path) -> Iterator[str]:
    """Start with these files; find that they are used though the store is older than the others."""
    with closing(SqliteStore(folder)) as store:
        durable = DurablePeer(Peer(config), SealedStore(store, config.secret))
        play = durable.peer.state.play
        _, states = read_states(folder / FOLDER / STATES)
        newest = max((state.number for state in states), default=0)
        with closing(WatchedPeer(durable, folder / FOLDER)) as watched:
            watched.start(durable.peer.state.block.peak)
    if play is not None and newest > play.history.state.number:
        yield f"has no state {newest}, which its watcher's data have, and is used"


def recovery(state: PeerState) -> Command | None:
    """The command of `recover --publish-old`, where a copy waits for the other side's close."""
    return GoOnChain(RECOVERY, old_copy=True) if has_unpublished_copy(state) else None


def is_held_up(run: Run) -> bool:
    """True if the channel was closed by a state that the restored side forgot, and nobody pays it.

    Only the other side can then time its coin out, which a hostile one need not do.
    """
    coin, play = channel_coin(run), run.party.peer.state.play
    children = run.chain.children(coin.id) if coin is not None else []
    if coin is None or play is None or all(child.spent is not None for child in children):
        return False
    channel = run.party.peer.endpoint.channel
    known = {unroll_coin(channel, link.state) for link in play.history}
    return not known & {child.coin for child in children}


def broken_to_restored(run: Run, talk: Conversation, times: int) -> Iterator[str]:
    """Find broken promises to the honest side of a run that went on from a copy so many times.

    After the second time, it may have forgotten that it was restored: its coins are still safe.
    """
    yield from failures(run)
    yield from losses(run)
    copy = restored(run) if times == 1 else None
    if copy is not None:
        for promise, how in broken_to_copy(run, talk, copy):
            yield f"{promise}: {how}"
