"""A peer that outlives its process: every event is durable before its effects are carried out.

The store is a journal of the peer's events, with a snapshot now and then. A restart hands the
events to a peer again; as a peer is deterministic, it is then where it was. Events that change
nothing are left out: blocks in which nothing happens, messages that are ignored, and connections
that change nothing (a restart counts as a new one anyway), and reports about fees. So is the
preparation of decks (PD-12): the journal has its outcome.

A peer that fails to handle an event leaves the channel by its own fault, unless the event is a
block. The journal has that decision in the place of the event: otherwise the other side would
repeat its message after every restart, and a mended version would replay it differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy

from channelsim import plugins
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    Command,
    Connected,
    Effect,
    Erase,
    Event,
    Fault,
    FeeLimits,
    NodeReport,
    Proposed,
    Received,
    SawCards,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.machine import TRANSITIONS, Peer
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import (
    PeerState,
    Phase,
    endpoint_and_play,
    play_of,
)
from channelsim.channel.peer.play.sending import our_turns, unanswered, your_turns
from channelsim.channel.protocol.messages import Advisory, decode
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.store.decks import (
    decks_changed,
    given_up_by_restart,
    prepares_decks,
    without_preparations,
)
from channelsim.channel.store.event_codec import JournalEvent, Start, decode_event, encode_event
from channelsim.channel.store.history_codec import encode_newer
from channelsim.channel.store.interface import Contents, PeerStore, StoreError
from channelsim.channel.store.overview import encode_overview
from channelsim.channel.store.replays import Replayed, Replays
from channelsim.channel.store.snapshots import (
    Reveal,
    can_be_saved,
    decode_snapshot,
    encode_snapshot,
)
from channelsim.channel.system.interrupt import INTERRUPTS

EVENTS_PER_SNAPSHOT = 50
"""Events after which a snapshot is taken, if the peer is not in a dispute.

The first one is taken as soon as play begins, since the events before it remain. One is taken too
when the secrets of a deck are erased: the journal has them in the event that brought the deck."""

REPEATED = Block | Received | Connected
"""Events that matter later even where they change nothing: something may follow from them."""

ABOUT_FEES = NodeReport | FeeLimits
"""Events about fees; where they change nothing, they do not matter any more."""

MOST_REVEALS = 64
"""Early reveals of one game that are stored; a seat rebuilt without the others knows less."""


NUMBERS = "Numbers"
"""The kind of a message with the other side's last numbers: they answer a connection."""

Pending = tuple[str, Event]
"""An event that changed nothing, with its kind: the name of its type, or `NUMBERS`."""


class DurablePeer:
    """A peer with its journal; an actor for a driver. `peer` may be read at any time.

    It takes a new peer. With an empty store it stays one; otherwise it becomes the peer that the
    store is of, and `start` returns what a driver has to know again. Raises `StoreError` for a
    store that cannot be read, or that another configuration wrote. After a failure it does nothing
    any more. What `replays` has of the store is not replayed again.
    """

    def __init__(
        self,
        peer: Peer,
        store: PeerStore,
        events_per_snapshot: int = EVENTS_PER_SNAPSHOT,
        replays: Replays | None = None,
    ) -> None:
        self.peer = peer
        self._events_per_snapshot = events_per_snapshot
        self._store = store
        self._failed: BaseException | None = None
        # Events that changed nothing: they count if something follows.
        self._pending: list[Pending] = []
        self._recorded_block = Block(0)
        self._since_snapshot = 0
        self._states = 0
        # The journal has the event that brought a secret which has been erased since.
        self._erased = False
        self._overviewed: StateHistory | None = None
        self._watched: list[Coin] = []
        self._reveals: list[Reveal] = []
        # Those of a connection that the peer failed to handle; others are repeated with the next.
        self._effects_of_restart: list[Effect] = []
        contents = store.load()
        self._started = bool(contents.events or contents.opening)
        try:
            self._restore(contents, replays)
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(
                f"{store.name}: it does not lead to a peer of this channel ({_reason(error)}):"
                " it is damaged, or was written with other keys, settings or programs"
            ) from None

    @property
    def reveals(self) -> tuple[Reveal, ...]:
        """The early reveals of the other side that it keeps."""
        return tuple(self._reveals)

    def copied(self, store: PeerStore) -> DurablePeer:
        """A copy that goes on by itself, with a store that has the same contents."""
        twin = copy(self)
        vars(twin).update(
            peer=copy(self.peer),
            _store=store,
            _pending=[*self._pending],
            _watched=[*self._watched],
            _reveals=[*self._reveals],
        )
        return twin

    # --- an actor ---

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height; after a restart, watch the same coins and ask the player again.

        A restart gives up the ready decks that nothing names.
        """
        if self._started:
            watched = [Watch(coin) for coin in self._watched]
            with self._failing():
                given_up = self._give_up_decks()
            return [*watched, *self._effects_of_restart, *given_up, *self._questions()]
        with self._failing():
            effects = self.peer.start(peak)
            self._record([Start(peak)])
            self._note(Start(peak), effects)
        self._started = True
        return effects

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event; it is durable when this returns its effects.

        Raises `UsageError` for a command that cannot be carried out, and `StoreError`. Any other
        error is a failure of this program, or of a plug-in.
        """
        with self._failing():
            due = not self._states or self._since_snapshot >= self._events_per_snapshot
            if (due or self._erased) and can_be_saved(self.peer.state):
                self._save_snapshot()
        before = self.peer.state
        event, effects = self._react(event)
        with self._failing():
            self._keep(event, before, effects)
        return effects

    def _react(self, event: Event) -> tuple[Event, list[Effect]]:
        """Let the peer handle an event, or leave the channel if it fails to: the event to write.

        Raises `UsageError` for a command that cannot be carried out.
        """
        try:
            return event, self.peer.handle(event)
        except INTERRUPTS:
            raise
        except BaseException as error:
            if isinstance(error, UsageError) and isinstance(event, Command):
                raise
            with self._failing():
                # The peer still has the state from before the event.
                if isinstance(event, Block) or Fault not in TRANSITIONS[self.peer.phase]:
                    raise
                fault = Fault(_reason(error))
                return fault, self.peer.handle(fault)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Do nothing any more after an error in this block."""
        if self._failed is not None:
            raise self._failed
        try:
            yield
        except BaseException as error:
            self._failed = error
            raise

    # --- writing ---

    def _keep(self, event: Event, before: PeerState, effects: Sequence[Effect]) -> None:
        """Write an event, with those before it that changed nothing; or postpone it like them."""
        lasting: Sequence[JournalEvent] = (event,)
        if prepares_decks(event, before, self.peer.state):
            # A step that comes again is no event of the journal: a restart knows no steps.
            lasting = decks_changed(before, self.peer.state)
            if not lasting:
                return
        elif isinstance(event, REPEATED | ABOUT_FEES) and _changed_nothing(
            before, self.peer.state, effects
        ):
            if isinstance(event, REPEATED):
                self._postpone(event, before)
            return
        self._record([*(event for _, event in self._pending), *lasting])
        self._pending.clear()
        self._note(event, effects)

    def _give_up_decks(self) -> list[Effect]:
        """Give up the ready decks that nothing names; the journal has it, for the next restart."""
        event = given_up_by_restart(self.peer.state)
        if event is None:
            return []
        effects = self.peer.handle(event)
        self._record([event])
        self._note(event, effects)
        return effects

    def _postpone(self, event: Event, before: PeerState) -> None:
        """Write an event that changed nothing once something follows from it."""
        kind = type(event).__name__
        if before.resuming and not self.peer.state.resuming:
            kind = NUMBERS
        elif isinstance(event, Received) and before.last_received == self.peer.state.last_received:
            return  # It does not count, so the last one that does has to stay.
        self._pending = _still_needed([*self._pending, (kind, event)])

    def _record(self, events: Sequence[JournalEvent]) -> None:
        data, block = [], self._recorded_block
        for event in events:
            data.append(encode_event(event, block))
            block = event if isinstance(event, Block) else block
        play = self.peer.state.play
        overview = b""
        if play is not None and play.history is not self._overviewed:
            self._overviewed = play.history
            overview = encode_overview(play)
        self._store.append(data, overview)
        self._recorded_block = block
        self._since_snapshot += len(events)

    def _save_snapshot(self) -> None:
        state = self.peer.state
        history = play_of(state).history
        live = {game.id for game in history.state.games}
        self._reveals = [one for one in self._reveals if one.game_id in live]
        snapshot = encode_snapshot(state, self._watched, self._reveals)
        rows = encode_newer(history, self._states)
        self._store.save_snapshot(snapshot, rows, erases=self._erased)
        self._states += len(rows)
        self._since_snapshot = 0
        self._erased = False
        self._recorded_block = state.block
        self._pending.clear()

    def _note(self, event: JournalEvent, effects: Sequence[Effect]) -> None:
        """Note the effects of an event that a restart or a snapshot needs."""
        for effect in effects:
            match effect:
                case Watch(coin):
                    self._watched.append(coin)
                case Erase():
                    # An older event of the journal may still have the secrets.
                    self._erased = True
                case Tell(SawCards()) if isinstance(event, Received):
                    self._note_reveal(event)

    def _note_reveal(self, event: Received) -> None:
        """Note an early reveal that our seat took."""
        message = decode(event.message)
        if not isinstance(message, Advisory):
            return
        number = play_of(self.peer.state).state.number
        reveal = Reveal(message.game_id, number, message.data)
        same = [one for one in self._reveals if one.game_id == reveal.game_id]
        if len(same) < MOST_REVEALS and all(one.data != reveal.data for one in same):
            self._reveals.append(reveal)

    # --- reading ---

    def _restore(self, contents: Contents, replays: Replays | None) -> None:
        if contents.snapshot:
            self._read(Contents(events=contents.opening), replays)
            if replays is None or replays.find(contents) is None:
                self.peer.state, self._watched, self._reveals = decode_snapshot(
                    self.peer.state,
                    contents.snapshot,
                    contents.states,
                )
                self._recorded_block = self.peer.state.block
        self._states = len(contents.states)
        self._read(contents, replays)
        self.peer.state = without_preparations(self.peer.state)
        self._since_snapshot = len(contents.events)
        if self._started:
            # Nothing is signed before the other side's last numbers are here: this may be an old
            # copy of the store. They come with the next connection.
            before = self.peer.state
            event, effects = self._react(Connected())
            if isinstance(event, Fault):
                self._effects_of_restart = effects
                self._keep(event, before, effects)
            else:
                self._postpone(event, self.peer.state)

    def _read(self, contents: Contents, replays: Replays | None) -> None:
        """Replay the events of these contents, but for those that were replayed before."""
        known = replays.find(contents) if replays is not None else None
        if known is not None:
            self.peer.state, self._recorded_block, self._erased = (
                known.state,
                known.block,
                known.erased,
            )
            self._watched, self._reveals = [*known.watched], [*known.reveals]
        for data in contents.events[len(known.contents.events) if known is not None else 0 :]:
            self._replay(data)
        if replays is not None:
            replays.keep(
                Replayed(
                    contents,
                    self.peer.state,
                    self._recorded_block,
                    tuple(self._watched),
                    tuple(self._reveals),
                    self._erased,
                )
            )

    def _replay(self, data: bytes) -> None:
        event = decode_event(data, self._recorded_block)
        if isinstance(event, Start):
            effects = self.peer.start(event.peak)
        else:
            effects = self.peer.handle(event)
        if isinstance(event, Block):
            self._recorded_block = event
        self._note(event, effects)

    def _questions(self) -> list[Effect]:
        """Ask the player again what it has not answered."""
        state = self.peer.state
        if state.dispute is not None:
            return [Tell(YourTurn(game_id)) for game_id in state.dispute.undecided]
        if state.phase is not Phase.PLAYING:
            return []
        endpoint, play = endpoint_and_play(state)
        groups = [play.state.group(group_id) for group_id in unanswered(endpoint, play)]
        asked: list[Effect] = [Tell(Proposed(group)) for group in groups if group is not None]
        return asked + (your_turns(our_turns(endpoint, play)) if play.potato else [])


def _still_needed(pending: Sequence[Pending]) -> list[Pending]:
    """Keep the last block, the last message, and the last connection with the numbers after it.

    The message counts only on the connection that it came by, so that is kept, too.
    """
    kinds = [kind for kind, _ in pending]

    def last(kind: str, end: int) -> int:
        return max((at for at in range(end) if kinds[at] == kind), default=-1)

    newest = len(kinds)
    message = last(Received.__name__, newest)
    kept = {last(Block.__name__, newest), message}
    for end in (max(message, 0), newest):
        connected, numbers = last(Connected.__name__, end), last(NUMBERS, end)
        kept |= {connected, max(connected, numbers)}
    return [pending[at] for at in sorted(kept) if at >= 0]


def _reason(error: BaseException) -> str:
    """An exception as a line that can be printed."""
    text = plugins.described(error)
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _changed_nothing(before: PeerState, after: PeerState, effects: Sequence[Effect]) -> bool:
    """True if an event left all but the newest block, digest and connection as it was."""
    if any(isinstance(one, Erase | Watch) for one in effects):
        return False
    old, new = before.dispute, after.dispute
    if old is None or new is None:
        same_dispute = old is new
    else:
        # Each scan makes it anew.
        same_dispute = all(
            getattr(old, name) is getattr(new, name) or getattr(old, name) == getattr(new, name)
            for name in Dispute.__struct_fields__
            if name != "block"
        )
    # Marks are made anew with each block; other values are replaced when they change.
    return (
        same_dispute
        and before.marks == after.marks
        and all(
            getattr(before, name) is getattr(after, name)
            for name in PeerState.__struct_fields__
            if name not in ("block", "last_received", "marks", "resuming", "dispute")
        )
    )
