"""One side as a user runs it: `channelsim peer` with its files, started again after it has stopped.

Each life of the process has a new peer, runner, player, link, and connection to the same files. A
life ends when the channel is over, or with an error; that error is expected if an action of the
script caused it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.ending_duties import CLOSE, RECOVER
from channelsim.channel.attack.failing_files import failing_log, lose_power
from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.failing_store import Disk, failing_connection
from channelsim.channel.attack.filled_blocks import due_limits, other_limits
from channelsim.channel.attack.hostile_side import HostileSide
from channelsim.channel.attack.kinds import FILE, LIMIT_FEES, STATEMENT
from channelsim.channel.attack.monitors import as_restarted, differences
from channelsim.channel.attack.mortal_peer import Instant, MortalPeer, NotedPeer, ObeyingSide
from channelsim.channel.attack.old_copies import OldCopies, recovery
from channelsim.channel.attack.side_monitors import SideMonitors
from channelsim.channel.attack.side_processes import SideProcess
from channelsim.channel.attack.virtual_time import RESOLUTION, VirtualThreads
from channelsim.channel.attack.watcher_process import WatcherProcess, begun
from channelsim.channel.errors import UsageError, Violation
from channelsim.channel.network.link import Link
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    CancelGames,
    Close,
    Command,
    Effect,
    Event,
    FeeLimits,
    GoOnChain,
    PrepareDeck,
    Proposed,
    ProposeGames,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads, seeded_secrets
from channelsim.channel.session.ending_player import EndingPlayer, nothing_left
from channelsim.channel.session.fee_maxima import NOT_GIVEN, changed_limits
from channelsim.channel.session.linked_peer import run_with_link
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.peer_runner import (
    PeerRunner,
    RunFailed,
    begins_with_link,
    is_over,
)
from channelsim.channel.session.questions import Deciding, PlayerOfPeer
from channelsim.channel.session.session_events import Decided, Handled, NewsFor, SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import Accepting, by_policy
from channelsim.channel.simulation.kills import Kill
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.sealed_store import SealedStore
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch.watch_data import FOLDER
from channelsim.games.contract import Action as Move
from channelsim.games.contract import Player
from channelsim.games.poker.known_cards import NoCard
from channelsim.games.poker.variants import VARIANTS

POLL_TIME = 3.0
"""Seconds between two looks at the chain."""

MOST_FAILURES = 3
"""Errors that no action explains after which a process is not started again."""

BRIEF = 2
"""One absence in so many has a watcher that is started again for each of its looks."""

PATIENCE = 2.0
"""Seconds after which a process is started again that an error ended."""


@dataclass(slots=True)
class Process:
    """The process of one side, through all of its lives.

    `listen` hears of everything; `compare` of the state before a restart and after it, but for one
    from an older copy; `starts_again` of each restart; `fails` of an error that no action of the
    script explains, `undone` of an action that cannot take place, and `note_killed` of a kill and
    the effects that it left out. `player` makes that of a peer. `lasting` are digests that a
    restart may have as the last message's, where newer ones changed nothing: those may be lost.

    It has a `real` process beside it, or none. One that is `hostile` has the actor that this makes
    of its peer, and perhaps a process `beside` that. It stores nothing, has one
    life, and goes on when its channel is over.
    """

    config: Config
    setup: Setup
    folder: Path
    node: FailingNode
    threads: VirtualThreads
    snapshots: int
    watched: bool
    next_action_on: Callable[[str, int], Action | None]
    keep_linked: Callable[[Link], Coroutine[None, None, None]]
    listen: Callable[[SessionEvent], None]
    compare: Callable[[Process, Instant, PeerState], None]
    starts_again: Callable[[Side], None]
    fails: Callable[[Process, BaseException], None]
    on_peer: Callable[[Peer], None]
    note_killed: Callable[[Side, Kill, Sequence[Effect]], None]
    monitors: SideMonitors
    copies: OldCopies
    undone: Callable[[Action], None]
    player: Callable[[Peer, Deciding, Accepting], PlayerOfPeer]
    hostile: Callable[[Peer], HostileSide] | None = None
    beside: Callable[[HostileSide], Actor] = lambda side: side
    real: SideProcess | None = None
    lives: int = 0
    events: int = 0
    is_over: bool = False
    failures: int = 0
    begun: bool = False
    down_for: float = PATIENCE
    down_until: int = 0
    ended_at: Instant | None = None
    restores: Action | None = None
    runner: PeerRunner | None = None
    store_failed: bool = False
    stopped: bool = False
    lost: int | None = None
    ending: str | None = None
    fee_limits: FeeLimits | None = None
    healed: asyncio.Event = field(default_factory=asyncio.Event)
    awaited: asyncio.Event = field(default_factory=asyncio.Event)
    disk: Disk = field(init=False)
    lasting: tuple[bytes, ...] = ()
    _running: asyncio.Task[None] | None = None
    _thinks: float = 0.0
    _slowness: float = 0.0
    _links: list[Link] = field(default_factory=list)
    _given: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin with a disk that works."""
        self.disk = Disk(self.folder)

    @property
    def side(self) -> Side:
        """The side."""
        return self.config.side

    @property
    def is_given_up(self) -> bool:
        """True if the process fails again and again, for no reason that the script gives."""
        return self.failures >= MOST_FAILURES

    def next_action(self, counter: str) -> Action | None:
        """Count on one of this side's counters; the action that is due."""
        action = self.next_action_on(counter, self.side)
        if action is not None and counter in (STATEMENT, FILE):
            self.store_failed = True
        return action

    async def live(self) -> None:
        """Run the process until the channel is over, as often as it takes.

        After that it waits until its user starts it once more: `look_again`.
        """
        if self.hostile is not None:
            await self._hostile_life(self.hostile)
        while True:
            self.down_for, self.store_failed, self.stopped = PATIENCE, False, False
            self.lives += 1
            if await self._one_life():
                self.is_over = True
                self.monitors.ended()
                await self.awaited.wait()
                self.awaited.clear()
                continue
            if self.is_given_up:
                return
            await self._be_down()

    def note_received(self, before: PeerState, after: PeerState) -> None:
        """Follow the digest of the last message, which is stored with what follows from it."""
        known = before.last_received
        same = replace(before, last_received=after.last_received)
        is_stored = differences(same, as_restarted(after))
        # A new connection forgets early messages, and the last message with them.
        if is_stored or before.early != after.early:
            self.lasting = ()
        elif after.last_received != known:
            self.lasting = (*self.lasting, known)

    def look_again(self) -> bool:
        """Start a process whose channel was paid out; false for one that runs, or has failed."""
        state = self.ended_at.states[-1] if self.ended_at is not None else None
        if not self.is_over or state is None or state.phase is not Phase.CLOSED:
            return False
        self.is_over = False
        self.awaited.set()
        return True

    async def _one_life(self) -> bool:
        """Run the process once; true if the channel is over."""
        mortal: MortalPeer | None = None
        real = self.real
        try:
            if self.restores is not None:
                for how in self.copies.used_alone(self.restores, self.config):
                    self.monitors.wrong_store(how)
                self.copies.restore(self.restores)
                self.disk.files = {}
                self.monitors.restored()
                self.restores = self.ended_at = None
            if real is not None:
                real.take_files()
            next_action = partial(self.next_action, STATEMENT)
            wrong = self.monitors.wrong_store
            connection = failing_connection(next_action, self.disk, wrong)
            store = SqliteStore(self.folder, connection=connection)
            with closing(store):
                peer = NotedPeer(self.config)
                sealed = SealedStore(self.monitors.store(store, self.snapshots), self.config.secret)
                durable = DurablePeer(peer, sealed, self.snapshots)
                before, self.ended_at = self.ended_at, None
                if before is not None:
                    self.compare(self, before, peer.state)
                if self.lives > 1:
                    self.starts_again(self.side)
                self.lasting = ()
                self.monitors.state = peer.state
                self.on_peer(peer)
                log = failing_log(partial(self.next_action, FILE))
                with closing(WatchedPeer(durable, self.folder / FOLDER, log)) as actor:
                    outside = actor if real is None else real.begin(actor)
                    mortal = MortalPeer(actor, peer, self, outside)
                    await self._run(peer, mortal)
        except asyncio.CancelledError:
            if not self.stopped:
                raise
        except Exception as error:
            planned = (mortal is not None and mortal.died) or (
                self.store_failed and isinstance(error, StoreError)
            )
            if not planned:
                self.failures += 1
                self.fails(self, error)
        else:
            return True
        finally:
            self.runner = self._running = None
            was_killed = real is not None and real.was_killed
            if real is not None and was_killed:
                real.give_files()
            self.monitors.stopped(in_doubt=self.store_failed, killed=was_killed)
            if self.lost is not None:
                lose_power(self.folder / FOLDER, self.lost)
                self.disk.lose_power()
                self.lost = None
        return False

    async def _hostile_life(self, hostile: Callable[[Peer], HostileSide]) -> None:
        """Run the process for ever: what it wants does not end with its channel."""
        self.lives += 1
        peer = Peer(self.config)
        side = hostile(peer)
        self.on_peer(peer)
        try:
            actor = ObeyingSide(side, self, self.beside(side))
            await self._run(peer, actor, over=lambda peer: False)
        except (Violation, NoCard):
            # One of its adversaries cannot go on from what another one has done, or its player
            # with a deck that it prepared falsely: it falls silent.
            await asyncio.get_running_loop().create_future()

    async def _run(
        self, peer: Peer, actor: Actor, over: Callable[[Peer], bool] | None = None
    ) -> None:
        player = self._player(peer)
        if self.hostile is None:
            player = self.monitors.asking(player)
        decks = DeckThreads(seeded_secrets(self.config.secret), self.threads)
        time = asyncio.get_running_loop().time
        asked, self.fee_limits = self.fee_limits or NOT_GIVEN, None
        self.runner = PeerRunner(
            peer,
            actor,
            self.node if self.hostile is not None else self.monitors.node(self.node, time),
            player,
            decks,
            [self._hear],
            waits_for_link=self.ending is None and begins_with_link(peer),
            poll_time=POLL_TIME,
            fee_limits=changed_limits(peer, asked, self.folder),
            on_trouble=self.monitors.trouble,
            threads=self.threads,
        )
        self.monitors.fee_limits = due_limits(self.config.fees, peer.state.fees.limits, asked)
        self.monitors.begins(self.ending, peer.state)
        tell = self.monitors.linked
        work = run_with_link(self.runner, self._keep_linked, tell, over or is_over)
        if self.ending == RECOVER:
            work.close()
            work = self.runner.run(nothing_left)
        self._running = asyncio.ensure_future(work)
        try:
            await self._running
            if self.hostile is None:
                self.monitors.ends(self.setup, peer.state, self.node.chain)
        finally:
            self._running.cancel()
            if self.hostile is None:
                self.monitors.leaves(self.runner, actor, *self._links)
            self._links.clear()
            for given in self._given:
                given.cancel()
            decks.close()
            if self.ended_at is None and self.restores is None:
                self.ended_at = Instant((peer.state,))

    async def _keep_linked(self, link: Link) -> None:
        self._links.append(link)
        await self.keep_linked(link)

    def _player(self, peer: Peer) -> PlayerOfPeer:
        """The player of today's command: that of `peer`, or of one that ends the channel."""
        if self.ending is None:
            return self.player(
                peer, self._decide, lambda number: not self.monitors.declining.declines
            )
        reason = "recovery" if self.ending == RECOVER else None
        return EndingPlayer(peer, self._decide, reason)

    def _decide(self, game: str, game_id: int, player: Player) -> Move:
        """Decide by the side's policy; the answer may take long."""
        self._thinks, self._slowness = 0.0, self._thinks
        self.monitors.asked[game_id] = player.position
        decide = by_policy(self.setup.policies[self.side], self.config.secret)
        move = decide(game, game_id, player)
        self.listen(Decided(self.config.name, game_id, move))
        return move

    def take_slowness(self) -> float:
        """The seconds that the answer to the last call in a thread takes, once."""
        slowness, self._slowness = self._slowness, 0.0
        return slowness + self.node.take_slowness()

    def _hear(self, event: SessionEvent) -> None:
        if isinstance(event, Handled) and event.event is None:
            # A restart is no event of the peer: it goes on where it was.
            if self.begun:
                return
            self.begun = True
        self.monitors.hear(event)
        self.listen(event)

    def go_down(self, action: Action) -> None:
        """Stay down for as long as an action lasts, once the process has ended."""
        self.down_for = float(action.pause)
        self.down_until = self.node.height + action.blocks

    async def _be_down(self) -> None:
        """Wait until the process is started again, with a watcher if there is one."""
        loop = asyncio.get_running_loop()
        until = loop.time() + max(self.down_for, PATIENCE)
        watcher: WatcherProcess | None = None
        is_brief = self.node.height % BRIEF == 0
        while not self.healed.is_set():
            left = until - loop.time()
            if left <= RESOLUTION and self.node.height >= self.down_until:
                return
            try:
                if self.watched and (watcher is None or is_brief):
                    watcher = begun(self.folder, self.node, self.monitors.watcher, watcher)
                if watcher is not None:
                    watcher.look()
            except UsageError:
                # The node may be away, and the data not whole yet.
                if watcher is not None:
                    watcher.since = None
            await asyncio.sleep(min(POLL_TIME, left) if left > RESOLUTION else POLL_TIME)

    # --- what the player wants ---

    def do(self, action: Action) -> None:
        """Do what an action says that no other part does."""
        if action.kind in (CLOSE, RECOVER):
            self.ending = action.kind
        if action.kind == LIMIT_FEES:
            self.fee_limits = other_limits(self.config.fees, action.amount)
        if action.kind in ("stop", CLOSE, RECOVER, LIMIT_FEES):
            # Once only: a second time would cut its end short.
            if self._running is not None and not self.stopped:
                self.stopped = True
                self.go_down(action)
                self._running.cancel()
            return
        if action.kind == "decline":
            self.monitors.declining.declines = True
        if action.kind == "think":
            self._thinks = float(action.pause)
        for command in self._commands(action):
            self._give(command)

    def recover(self) -> None:
        """Do what `recover --publish-old` does, where the store is an old copy that waits."""
        state = self.runner.peer.state if self.runner is not None else None
        command = recovery(state) if state is not None else None
        if state is not None and command is not None:
            self.monitors.publishes(state)
            self._give(command)

    def _give(self, command: Command) -> None:
        """Give the process a command, once it has looked at the chain; nothing if none runs."""
        if self.runner is None:
            return
        if self.runner.has_looked:
            with suppress(UsageError, RunFailed):
                self.runner.command(command)
            return
        given = asyncio.ensure_future(self._give_later(self.runner, command))
        self._given.add(given)
        given.add_done_callback(self._given.discard)

    async def _give_later(self, runner: PeerRunner, command: Command) -> None:
        await runner.looked()
        if self.runner is runner:
            self._give(command)

    def _commands(self, action: Action) -> list[Command]:
        peer = self.runner.peer if self.runner is not None else None
        match action.kind:
            case "close":
                return [Close()]
            case "go-on-chain":
                return [GoOnChain()]
            case "cancel" if peer is not None and peer.phase is Phase.PLAYING:
                groups = peer.play.state.groups
                return [CancelGames(group.id, "the player wants to") for group in groups]
            case "prepare":
                return [PrepareDeck()]
            case "propose" if peer is not None and peer.phase is Phase.PLAYING:
                self.monitors.declining.proposes = True
                return [ProposeGames((self._wish(action.at),))]
            case _:
                return []

    def _wish(self, number: int) -> Wish:
        """A game that a player proposes, with either seat; where dealers choose, any of poker."""
        setup, names = self.setup, tuple(VARIANTS)
        game = names[number % len(names)] if setup.dealer_chooses else setup.games[0]
        return Wish(game, setup.parameters(game), setup.game_timeout, number % 2 == 0)

    def tell_untold(self, effects: list[Effect]) -> None:
        """Note the news that a killed process did not tell: its player finds it in the state.

        A peer that starts again asks its questions by itself.
        """
        for effect in effects:
            if isinstance(effect, Tell) and not isinstance(effect.news, Proposed | YourTurn):
                self.listen(NewsFor(self.config.name, effect.news))

    def report_stored(self, event: Event, effects: list[Effect]) -> None:
        """Report an event that was stored, though its process failed."""
        self.listen(Handled(self.config.name, event, tuple(effects)))
        self.tell_untold(effects)
