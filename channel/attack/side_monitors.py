"""Monitors of one side's process: of each event, each restart, and its files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from channelsim.channel.attack.agreed_games import Declining
from channelsim.channel.attack.command_ends import wrong_end, wrong_notice, wrong_publishing
from channelsim.channel.attack.deck_duties import DeckDuties
from channelsim.channel.attack.early_messages import lost_early
from channelsim.channel.attack.ending_duties import RECOVER, not_asked_for
from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.fee_news import FeeNews
from channelsim.channel.attack.game_spends_due import wrong_game_spends
from channelsim.channel.attack.left_files import LeftFiles
from channelsim.channel.attack.news_due import missing
from channelsim.channel.attack.news_fields import false_news
from channelsim.channel.attack.noted_node import NotedNode
from channelsim.channel.attack.noted_store import NotedStore
from channelsim.channel.attack.overview_facts import wrong_overview, wrong_without_keys
from channelsim.channel.attack.passed_over import event_name, is_passed_over, stays
from channelsim.channel.attack.play_duties import PlayDuties
from channelsim.channel.attack.play_orders import wrong_orders
from channelsim.channel.attack.printed_lines import PrintedLines
from channelsim.channel.attack.questions_due import AskedPlayer, Question, QuestionsDue
from channelsim.channel.attack.refusals_due import wrong_refusal
from channelsim.channel.attack.seen_cards import wrong_cards
from channelsim.channel.attack.settled_games import wrong_after_settling
from channelsim.channel.attack.spends_due import (
    missing_funding,
    missing_spends,
    needless_funding,
    wrong_spends,
)
from channelsim.channel.attack.stakes_due import wrong_stakes
from channelsim.channel.attack.store_duties import (
    badly_sealed,
    shared,
    wrong_copy,
)
from channelsim.channel.attack.times_due import OwnMarks, ended_early, ended_late, untimely
from channelsim.channel.attack.trial_close import wrong_close
from channelsim.channel.attack.trial_restarts import is_due, wrong_restart
from channelsim.channel.attack.user_reports import LinkReports
from channelsim.channel.attack.watch_fees import WatchWallet
from channelsim.channel.attack.watch_files import behind
from channelsim.channel.attack.watcher_monitors import WatcherMonitors
from channelsim.channel.attack.wire import Wire
from channelsim.channel.attack.workload import Workload, large, left_over
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import UnknownGame, UnknownSpend
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    Act,
    Command,
    Connected,
    Effect,
    Event,
    FeeLimits,
    Received,
    Tell,
    Watch,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.limits import message_limit
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.peer_runner import Trouble
from channelsim.channel.session.questions import PlayerOfPeer
from channelsim.channel.session.session_events import Pushed, SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.channel.simulation.promises.fee_offers import awaits_fee_coins
from channelsim.channel.store.interface import PeerStore
from channelsim.channel.store.overview import decode_overview
from channelsim.channel.store.replays import Replays
from channelsim.channel.store.sqlite_store import FILE, OVERVIEW
from channelsim.channel.watch.watch_data import (
    FOLDER,
)
from channelsim.games.amounts import counted
from channelsim.games.contract import Position


@dataclass(slots=True)
class SideMonitors:
    """Follows one side through all lives of its process; `violated` takes an id and a line.

    Its files are in the folder, and its connections on the `wire`. `has_begun`: this process has
    started its peer, `has_looked`: it has looked at the chain, and `was_copied`: its store was read
    beside it. `is_copy`: the files were replaced by older ones. `fee_limits`: its player has set
    them, now or before. The `command` that this process runs is the action that ends the channel,
    or None. Its watchers pay fees from the `watch_wallet`, if there is one. Its player was `asked`
    in these positions last, by game. `time` is that of the session, in seconds.
    """

    config: Config
    folder: Path
    violated: Callable[[str, str], None]
    watch_wallet: WatchWallet | None = None
    wire: Wire | None = None
    watched: set[Coin] = field(default_factory=set)
    files: LeftFiles = field(default_factory=LeftFiles)
    asked: dict[int, Position] = field(default_factory=dict)
    replays: Replays = field(default_factory=Replays)
    workload: Workload = field(default_factory=Workload)
    state: PeerState | None = None
    has_begun: bool = False
    has_looked: bool = False
    was_copied: bool = False
    is_copy: bool = False
    fee_limits: FeeLimits | None = None
    command: str | None = None
    fee_news: FeeNews = field(default_factory=FeeNews)
    decks: DeckDuties = field(init=False)
    watcher: WatcherMonitors = field(init=False)
    play: PlayDuties = field(init=False)
    marks: OwnMarks = field(default_factory=OwnMarks)
    declining: Declining = field(default_factory=Declining)
    questions: QuestionsDue = field(default_factory=QuestionsDue)
    time: Callable[[], float] = lambda: 0.0
    _link: LinkReports | None = None
    _node: NotedNode | None = None
    _lines: PrintedLines | None = None
    _stored: NotedStore | None = None

    def __post_init__(self) -> None:
        """Begin with no decks, before play."""
        self.decks = DeckDuties(self.config)
        self.play = PlayDuties(self.config.side, self.config.fees)
        self.watcher = WatcherMonitors(
            self.folder, self.config.agreement.confirmations, self.watch_wallet, self._found
        )

    def node(self, node: FailingNode, time: Callable[[], float]) -> NotedNode:
        """The node of a new life of the process, which is followed."""
        self.has_begun, self.time = False, time
        self._node = NotedNode(node, time, lambda how: self._found("node", how))
        self._link = LinkReports(self._lost_for)
        if self.wire is not None:
            self.wire.begin(self.config.side)
        self._lines = PrintedLines(
            self.config.side,
            lambda how: self._found("lines", how),
            lambda: self.state.block.peak if self.state is not None else None,
        )
        return self._node

    def _lost_for(self) -> float:
        return self.wire.lost_for(self.config.side) if self.wire is not None else 0.0

    def trouble(self, trouble: Trouble) -> None:
        """Note what the user hears of the node."""
        for how in self._node.user.reported(trouble) if self._node is not None else ():
            self._found("node", how)

    def linked(self, line: str) -> None:
        """Note what the user hears of the link."""
        for how in self._link.reported(line) if self._link is not None else ():
            self._found("link", how)

    def store(self, store: PeerStore, snapshots: int) -> NotedStore:
        """The noted store of a new life, of which a snapshot is due after so many events."""
        for how in shared(self.folder):
            self.wrong_store(how)
        self.was_copied = False
        self._stored = NotedStore(
            store, self.files.secrets, snapshots, self.wrong_store, self.folder
        )
        return self._stored

    def wrong_store(self, how: str) -> None:
        """Note what is wrong with a store."""
        self._found("store", f"its store {how}")

    def restored(self) -> None:
        """Forget what an older copy of the files lacks."""
        self.is_copy = True
        self.watched.clear()
        self.decks.restored()
        self.fee_news = FeeNews()
        self.play = PlayDuties(self.config.side, self.config.fees, from_copy=True)
        self.files.restored()
        self.state = None

    def hear(self, event: SessionEvent) -> None:
        """Print an event, as the command of the process does."""
        if self._lines is not None:
            self._lines(event)
        if isinstance(event, Pushed) and self._node is not None:
            self._node.pushed(event.bundle)

    def follow(
        self, event: Event | None, before: PeerState, after: PeerState, effects: Sequence[Effect]
    ) -> None:
        """Follow an event that is stored; None for the start, or a restart."""
        coins = {effect.coin for effect in effects if isinstance(effect, Watch)}
        if event is None and self.watched - coins:
            lost = len(self.watched - coins)
            self._found(
                "restart", f"does not watch {lost} of {counted(len(self.watched), 'coin')} any more"
            )
        self.watched |= coins
        self.state = after
        self.files.follow(event, before, after, effects)
        if self._node is not None:
            if event is None and not before.block.peak:
                self._node.starts(after.block.peak)
            if event is None:
                self._look_for_wait(self._node, before)
            self._node.follow(event, effects)
        for how in self._link.follow(event) if self._link is not None else ():
            self._found("link", how)
        if isinstance(event, Act) and event.game_id in self.asked:
            player = Peer(self.config, before).player(event.game_id)
            if player is None or player.position != self.asked[event.game_id]:
                self._found("asks", f"decides in another position of game {event.game_id}")
        if isinstance(event, Command) and after is before and not effects:
            self._found("asks", f"takes {event} without any effect"[:200])
        if event is not None and is_passed_over(event, before, after, effects):
            self._found("asks", f"passes over a {event_name(event)} in {after.phase.value}")
        if stays(event, after):
            self._found("asks", f"stays in {after.phase.value} after a fault of its own")
        if isinstance(event, Received):
            if self.wire is not None:
                self.wire.heard(self.config.side)
            most = message_limit(before.play.state if before.play is not None else None)
            if len(event.message) > most:
                size = counted(len(event.message), "byte")
                self._found("link", f"takes a message of {size}, at most {most:,} now")
        for how in _misread(self.folder / FILE, after) if event is None else ():
            self._found("overview", how)
        if event is None and after.phase is Phase.PLAYING and not after.resuming:
            self._found("restart", "plays on after a restart, without the other side's numbers")
        told = [effect.news for effect in effects if isinstance(effect, Tell)]
        if not self.is_copy and any(isinstance(one, UnknownSpend | UnknownGame) for one in told):
            self._found("news", "its player hears of what its store lacks, and it has all states")
        for how in missing(before, after, effects):
            self._found("news", how)
        for how in false_news(self.config, event, before, after, effects):
            self._found("news", how)
        for how in wrong_cards(after, effects):
            self._found("news", how)
        for how in wrong_after_settling(after, effects):
            self._found("spends", how)
        for how in self.fee_news.follow(event, before, after, effects):
            self._found("news", how)
        for how in self.decks.follow(event, before, after, effects):
            self._found("decks", how)
        for how in self.play.follow(event, before, after, effects):
            self._found("potato", f"it {how}")
        for how in wrong_close(self.config, before, after):
            self._found("potato", f"it {how}")
        for how in (*wrong_orders(event, before, effects), *lost_early(event, before, after)):
            self._found("potato", f"it {how}")
        self.questions.follow(event, effects, self.time())
        for how in self.declining.follow(event, before, effects):
            self._found("hands", f"it {how}")
        for how in wrong_refusal(Side(self.config.side), event, before, after, effects):
            self._found("hands", f"it {how}")
        waits = awaits_fee_coins(self.config.fees, effects)
        undone = (
            *(() if waits else missing_spends(before, after, effects)),
            *(*wrong_spends(after, effects), *wrong_stakes(before, after, effects)),
        )
        for how in undone:
            self._found("spends", how)
        accusations = self.marks.follow(self.config, event, before, after, effects)
        for how in (*self._looks(event, before, after), *accusations):
            self._found("times", how)
        if isinstance(event, Block):
            for how in untimely(self.config, event, before, after, effects):
                self._found("times", how)
            for how in (
                *needless_funding(after, effects),
                *(() if waits else missing_funding(after, effects)),
            ):
                self._found("spends", how)
            if after.dispute is not None and not waits:
                for how in wrong_game_spends(self.config, after.dispute, event, effects):
                    self._found("spends", how)
        # A process that starts adds what the one before it could not.
        if event is None or not _same_states(before, after):
            for how in behind(self.config, self.folder / FOLDER, after):
                self._found("watch-data", how)

    def _look_for_wait(self, node: NotedNode, state: PeerState) -> None:
        """Look for a process that waits with its start; it may wait for the first connection."""
        self.has_begun = True
        for how in node.begins() if state.block.peak else ():
            self._found("node", how)

    def _looks(self, event: Event | None, before: PeerState, after: PeerState) -> Iterator[str]:
        """A process looks at the chain before anything else, and no more once it is over."""
        if event is None:
            self.has_looked = False
        elif isinstance(event, Block):
            if self.has_looked:
                yield from ended_late(self.config, before, event)
            self.has_looked = True
            if self.fee_limits != after.fees.limits:
                yield "it does not have the maxima of fees that its player has set"
        elif not self.has_looked and isinstance(event, Received | Connected | Command):
            yield f"it handles a {event_name(event)} before it has looked at the chain"

    def looks_again(self, state: PeerState) -> None:
        """Look at the state in which a process that has looked at the chain sees its next block."""
        for how in not_asked_for(self.command, state):
            self._found("asks", how)
        # `recover` asks nothing of the other side.
        link = None if self.command == RECOVER else self._link
        for how in link.looks_again() if link is not None else ():
            self._found("link", how)

    def try_restart(self, lasting: tuple[bytes, ...]) -> None:
        """Try, after an event that is followed, what a restart would lead to, if that is due."""
        store, state = self._stored, self.state
        if store is not None and state is not None and is_due(store):
            if state.play is not None and not self.was_copied:
                self.was_copied = True
                for how in wrong_copy(self.folder, store.contents):
                    self.wrong_store(how)
            for how in wrong_restart(
                self.config, store, state, lasting, self.watched, self.replays
            ):
                # The folder has another name in each run.
                self._found("restart", how.replace(f"{self.folder}", self.folder.name)[:300])

    def asking(self, player: PlayerOfPeer) -> AskedPlayer:
        """The player of a process, whose questions are followed."""
        return AskedPlayer(player, self._asks)

    def _asks(self, question: Question) -> None:
        for how in self.questions.asked(question, self.time()):
            self._found("asks", f"its player {how}")

    def begins(self, command: str | None, state: PeerState) -> None:
        """Note the command that a process runs; look at what one says that ends the channel."""
        self.command = command
        for how in wrong_notice(state) if command == RECOVER else ():
            self._found("lines", f"at its beginning {how}"[:300])

    def publishes(self, state: PeerState) -> None:
        """Look at what is said before an old copy is published."""
        for how in wrong_publishing(state):
            self._found("lines", how[:300])

    def ends(self, setup: Setup, state: PeerState, chain: Chain) -> None:
        """Look at the last line of a process that ends because the channel is over."""
        ends_channel = self.command is not None
        if self.is_copy and not ends_channel:
            return  # it may not know the shutdown that closed its channel
        for how in wrong_end(setup, self.config, state, chain, ends_channel=ends_channel):
            self._found("lines", f"at its end {how}"[:300])

    def goes_on(self, event: Event | None) -> None:
        """Note an event of a peer that has failed, or was killed: nothing may come after that."""
        self._found("ends", f"is given {type(event).__name__} after its failure")

    def keeps(self, *keepers: object) -> None:
        """Look at the parts of a process, after an event, for one that has grown too much."""
        state = self.state
        parts = (state, state.play, state.dispute, state.fees) if state is not None else ()
        kept = (part for part in (*parts, *keepers) if part is not None)
        games = len(state.play.state.games) if state is not None and state.play is not None else 0
        for how in (*large(*kept), *self.workload.excess(games), *_old_proposals(state)):
            self._found("work", how)

    def leaves(self, *keepers: object) -> None:
        """Look at what the parts of a process still keep, once it has ended."""
        printed = self._lines.lines if self._lines is not None else None
        for how in left_over(*keepers, printed):
            self._found("work", how)

    def ended(self) -> None:
        """Look at what a process leaves that ends because the channel is over."""
        for how in ended_early(self.config, self.state) if self.state is not None else ():
            self._found("times", how)

    def stopped(self, *, in_doubt: bool = False, killed: bool = False) -> None:
        """Look at the files of a process that has ended, its last event perhaps `in_doubt`."""
        if self._node is not None and self.state is not None and not self.has_begun:
            self._look_for_wait(self._node, self.state)
        for monitor, how in self.files.wrong(self.folder, killed=killed):
            self._found(monitor, how)
        if self._stored is not None:
            for how in badly_sealed(self._stored, self.config.secret):
                self.wrong_store(how)
        for how in wrong_overview(self.config, self.state) if self.state is not None else ():
            self._found("overview", f"its overview {how}")
        if not in_doubt and not killed:
            for how in _misread(self.folder / FILE, self.state):
                self._found("overview", how)

    def _found(self, monitor: str, how: str) -> None:
        self.violated(monitor, f"the {self.config.name}: {how}")


def _same_states(before: PeerState, after: PeerState) -> bool:
    """True if a side has no other states, and can publish no other one, than before."""
    return before.play is after.play or (
        before.play is not None
        and after.play is not None
        and before.play.history is after.play.history
        and before.play.newest is after.play.newest
    )


def _old_proposals(state: PeerState | None) -> Iterator[str]:
    """Find proposals that are kept in memory with older states than the newest two."""
    history = state.play.history if state is not None and state.play is not None else None
    older = history.older.older if history is not None and history.older is not None else None
    if older is not None and older.state.groups:
        proposals = counted(len(older.state.groups), "proposal")
        yield f"keeps {proposals} in state {older.state.number}"


def _misread(path: Path, state: PeerState | None) -> Iterator[str]:
    """Find what the overview in a store, which needs no keys, has otherwise than the peer."""
    if state is None or state.play is None or not path.exists():
        return
    with closing(sqlite3.connect(path)) as database:
        row = database.execute("SELECT data FROM facts WHERE name = ?", (OVERVIEW,)).fetchone()
    try:
        overview = decode_overview(row[0]) if row is not None else None
    except msgspec.DecodeError as error:
        yield f"has an overview that cannot be read: {error}"
        return
    yield from wrong_without_keys(state.play, overview)
