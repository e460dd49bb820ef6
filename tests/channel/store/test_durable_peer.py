"""A peer that is restarted from its store is the peer that wrote it, at any time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import msgspec
import pytest

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen, PendingBundle
from channelsim.channel.crypto import bls
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Close,
    Connected,
    Dropped,
    Effect,
    Event,
    FeeLimits,
    FeeRate,
    GoOnChain,
    Pinned,
    Proposed,
    ProposeGames,
    Received,
    Refused,
    Send,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import Advisory, decode, encode
from channelsim.channel.store import durable_peer, snapshots
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.event_codec import Start, decode_event, encode_event
from channelsim.channel.store.history_codec import encode_newer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games.contract import Action
from tests.channel.disputes import farm, leave
from tests.channel.scenarios import play_hands
from tests.channel.table import ANN, BEN, sit, wish

COIN = Coin(bytes(32), bytes(32), 7)
SEEN = (CoinSeen(COIN, 3, None), CoinSeen(COIN, 3, 9, b"solution"))


def repeats(peer: Peer | DurablePeer) -> list[Effect]:
    """What it sends on a new connection."""
    return peer.handle(Connected())


class Compared:
    """A durable peer that is compared with a restarted one after every few events."""

    def __init__(self, peer: Peer, every: int) -> None:
        self.store = MemoryStore()
        self.durable = DurablePeer(peer, self.store)
        self.compared: list[Phase] = []
        self._every, self._events = every, 0

    def start(self, peak: int) -> list[Effect]:
        return self.durable.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        effects = self.durable.handle(event)
        self._events += 1
        if self._events % self._every == 0:
            self.compare()
        return effects

    def compare(self) -> None:
        again = DurablePeer(Peer(self.durable.peer.config), self.store)
        now, then = self.durable.peer.state, again.peer.state
        # A restart loses the connection, and with it what is not stored before something follows.
        if then.dispute is not None and now.dispute is not None:
            dispute = msgspec.structs.replace(then.dispute, block=now.dispute.block)
            then = msgspec.structs.replace(then, dispute=dispute)
        copy = Peer(again.peer.config, now)
        assert repeats(copy) == repeats(again.peer)
        then = msgspec.structs.replace(then, block=now.block, last_received=now.last_received)
        assert then == msgspec.structs.replace(copy.state, last_received=now.last_received)
        if now.play is not None and then.play is not None:
            pairs = zip(now.play.history, then.play.history, strict=True)
            assert all(one == other for one, other in pairs)
        self.compared.append(now.phase)


@pytest.mark.parametrize(
    ("games", "leaves"),
    [
        (("spacepoker",), None),
        (("calpoker",), None),
        (("spacepoker", "calpoker"), 20),
        pytest.param(("spacepoker",), 12, marks=pytest.mark.long),
    ],
)
def test_a_restarted_peer_is_the_same_peer(
    games: tuple[str, ...], leaves: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable_peer, "EVENTS_PER_SNAPSHOT", 7)
    made: list[Compared] = []

    def wrap(peer: Peer) -> Compared:
        made.append(Compared(peer, every=4))
        return made[-1]

    with bls.remembered():
        play_hands(games, "durable", wrap, leaves=leaves)
    phases = set(made[0].compared)
    assert phases >= {Phase.PLAYING, Phase.ON_CHAIN if leaves else Phase.COMPLETED}
    assert made[0].store.load().snapshot


def test_a_snapshot_holds_every_field_of_a_peer_or_is_not_taken() -> None:
    """A new field has to be added to the snapshot; until then there is none while it is set."""
    assert set(PlayState.__struct_fields__) == snapshots.PLAY
    empty = {"dispute", "early", "closed", "shown"}
    assert set(PeerState.__struct_fields__) == snapshots.PEER | empty
    state = sit().open().ends[ANN].peer.state
    assert snapshots.can_be_saved(state)
    held = ((b"digest", decode(encode(Advisory(0, b"")))),)
    assert not snapshots.can_be_saved(msgspec.structs.replace(state, early=held))


PUSHED = sit().open().ends[ANN].pushed[0][1]


def test_an_event_of_an_older_form_is_refused() -> None:
    """A journal with a pin under its old name was begun by code that another store is of."""
    for name, body in (("pinned", {"bundle": PUSHED, "pending": []}), ("pinned by", 7)):
        with pytest.raises(msgspec.DecodeError):
            decode_event(msgspec.msgpack.encode((name, body)), Block(0))


@pytest.mark.parametrize(
    "event",
    [
        Start(5),
        Received(b"\xff\x00"),
        Block(4),
        Block(9, SEEN),
        Block(9, SEEN[::-1]),
        Pinned(PUSHED, (PendingBundle(PUSHED, 7, 5_000_000), PendingBundle(PUSHED, 0, 1))),
        Pinned(PUSHED, ()),
        Dropped(PUSHED),
        Refused(PUSHED, "INVALID_FEE_LOW_FEE"),
        FeeRate(11),
        FeeLimits(None, 5),
        ProposeGames((wish(), wish())),
        AcceptGames(3),
        CancelGames(3, "no"),
        Act(2, Action("raise", 5)),
        Close(),
        Connected(),
        GoOnChain("tired"),
    ],
    ids=lambda event: type(event).__name__.lower(),
)
@pytest.mark.parametrize("before", [Block(0), Block(8, SEEN[:1])], ids=("first", "later"))
def test_an_event_is_read_as_it_was_written(event: Event | Start, before: Block) -> None:
    data = encode_event(event, before)
    assert decode_event(data, before) == event
    for wrong in (b"", data[:-1], b"\x92\xa4what\xc0"):
        with pytest.raises(msgspec.DecodeError):
            decode_event(wrong, before)


def durable(index: int, store: MemoryStore) -> DurablePeer:
    return DurablePeer(Peer(sit().ends[index].peer.config), store)


def test_a_repeated_block_takes_no_room_and_long_solutions_are_stored_once() -> None:
    seen = CoinSeen(COIN, 3, 9, bytes(100_000))
    assert len(encode_event(Block(5, (seen,)), Block(4))) > 100_000
    assert len(encode_event(Block(6, (seen,)), Block(5, (seen,)))) < 20
    store = MemoryStore()
    peer = durable(BEN, store)
    peer.start(1)
    before = store.load()
    for height in range(2, 50):
        peer.handle(Block(height))
    assert store.load() == before


def test_idle_blocks_and_connections_of_an_open_channel_take_no_room() -> None:
    """A counterparty may connect in a loop for weeks."""
    table, store = sit(), MemoryStore()
    ben = DurablePeer(table.ends[BEN].peer, store)
    table.ends[BEN].driven.actor = ben
    table.open()
    (numbers,) = [one.message for one in repeats(table.ends[ANN].peer) if isinstance(one, Send)]
    for turn in range(20):
        assert [one for one in repeats(ben) if isinstance(one, Send)]
        ben.handle(Received(numbers))
        assert not ben.peer.state.resuming
        ben.handle(Block(ben.peer.state.block.peak + 1, ben.peer.state.block.coins))
        if turn == 0:
            before = store.load()
    assert store.load() == before
    ben.handle(ProposeGames((wish(),)))
    again = DurablePeer(Peer(ben.peer.config), store)
    assert again.peer.state.play == ben.peer.state.play
    assert again.peer.state.block == ben.peer.state.block


(NUMBERS,) = (
    effect.message for effect in repeats(sit().open().ends[ANN].peer) if isinstance(effect, Send)
)
IDLE: tuple[Event, ...] = (
    Connected(),
    Received(NUMBERS),
    Received(encode(Advisory(0, b"a"))),
    Received(encode(Advisory(0, b"b"))),
)


def test_what_changed_nothing_is_replayed_as_it_went() -> None:
    """A message counts only on a connection whose numbers are known."""
    table, first = sit(), MemoryStore()
    opened = DurablePeer(table.ends[BEN].peer, first)
    table.ends[BEN].driven.actor = opened
    table.open()
    opened.handle(Connected())
    opened.handle(FeeLimits(5, 5))
    for events in product(IDLE, repeat=4):
        store = MemoryStore(first.load())
        ben = opened.copied(store)
        for event in (*events, ProposeGames((wish(),))):
            ben.handle(event)
        restarted = DurablePeer(Peer(ben.peer.config), store)
        ben.peer.handle(Connected())
        assert restarted.peer.state == ben.peer.state


def test_reports_about_fees_that_change_nothing_take_no_room() -> None:
    """A node may report a pin after every push, for as long as a dispute lasts."""
    table, store = sit(unroll_timeout=1000), MemoryStore()
    ben = DurablePeer(table.ends[BEN].peer, store)
    table.ends[BEN].driven.actor = ben
    reports: list[Event] = [
        Pinned(PUSHED, (PendingBundle(PUSHED, 0, 1),)),
        Dropped(PUSHED),
        Refused(PUSHED, "INVALID_FEE_LOW_FEE"),
    ]
    for go_on in (table.open, lambda: leave(table, BEN)):
        go_on()
        ben.handle(reports[1])  # a snapshot may be due, and what was dropped is said once
        before, state = store.load(), ben.peer.state
        for report in reports:
            assert ben.handle(report) == []
        assert (store.load(), ben.peer.state) == (before, state)


def test_idle_blocks_of_a_dispute_take_no_room() -> None:
    """No snapshot is taken in a dispute, so that a restart handles what is stored of it."""
    table, store = sit(unroll_timeout=1000), MemoryStore()
    ben = DurablePeer(table.ends[BEN].peer, store)
    table.ends[BEN].driven.actor = ben
    leave(table.open(), BEN)
    farm(table)
    before = store.load()
    for height in range(table.chain.peak() + 1, 1000):
        ben.handle(Block(height, ben.peer.state.block.coins))
    assert store.load() == before
    for _ in range(2):
        farm(table)
    assert ben.peer.phase is Phase.ON_CHAIN
    again = DurablePeer(Peer(ben.peer.config), store)
    assert again.peer.state.dispute is not None


def test_idle_blocks_are_stored_before_what_follows_from_them() -> None:
    """The height decides on deadlines in the answer."""
    table = sit()
    store = MemoryStore()
    ann = DurablePeer(Peer(table.ends[ANN].peer.config), store)
    (hello,) = [one.message for one in ann.start(1) if isinstance(one, Send)]
    ben = table.ends[BEN].peer
    ben.start(1)
    (welcome,) = [one.message for one in ben.handle(Received(hello)) if isinstance(one, Send)]
    for height in range(2, 6):
        ann.handle(Block(height))
    answers = ann.handle(Received(welcome))
    again = DurablePeer(Peer(table.ends[ANN].peer.config), store)
    assert again.peer.state == ann.peer.state
    assert repeats(again) == [one for one in answers if isinstance(one, Send)]


def test_the_events_of_another_channel_are_refused() -> None:
    store = MemoryStore()
    table = sit()
    ann = DurablePeer(Peer(table.ends[ANN].peer.config), store)
    ann.start(1)
    store.append([b"\x92\xa3act\x92\x00\x90"])
    with pytest.raises(StoreError, match="does not lead to a peer of this channel"):
        durable(ANN, store)


class FailingStore(MemoryStore):
    """A store whose disk is full from some event on."""

    full = False

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        if self.full:
            raise StoreError("the disk is full")
        super().append(events, overview)


def test_a_peer_that_cannot_store_says_nothing_ever_after() -> None:
    store = FailingStore()
    peer = durable(ANN, store)
    store.full = True
    with pytest.raises(StoreError, match="full"):
        peer.start(1)
    for event in (Block(2), Close(), Received(b""), Connected()):
        with pytest.raises(StoreError, match="full"):
            peer.handle(event)


def test_a_refused_command_is_not_stored() -> None:
    store = MemoryStore()
    peer = durable(ANN, store)
    peer.start(1)
    before = store.load()
    with pytest.raises(UsageError, match="not now"):
        peer.handle(GoOnChain())
    assert store.load() == before


class Asking(Compared):
    """Restarts whenever the player is asked, and notes whether the player is asked again."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer, every=10**9)
        self.repeated: list[bool] = []

    def handle(self, event: Event) -> list[Effect]:
        effects = super().handle(event)
        questions = [one for one in effects if isinstance(one, Tell) and _asks(one)]
        if questions:
            asked = DurablePeer(Peer(self.durable.peer.config), self.store).start(0)
            assert not [one for one in asked if isinstance(one, Send)]
            self.repeated.append(all(one in asked for one in questions))
        return effects


def _asks(effect: Tell) -> bool:
    return isinstance(effect.news, YourTurn | Proposed)


@pytest.mark.parametrize("leaves", [None, 12])
def test_a_restarted_peer_asks_its_player_again(leaves: int | None) -> None:
    made: list[Asking] = []

    def wrap(peer: Peer) -> Asking:
        made.append(Asking(peer))
        return made[-1]

    with bls.remembered():
        play_hands(("spacepoker",), "asks", wrap, leaves=leaves)
    assert len(made[0].repeated) > 2
    assert all(made[0].repeated)


@pytest.mark.parametrize("name", ["we_asked", "they_asked", "ask_later", "resuming"])
def test_a_snapshot_keeps_what_the_next_connection_begins_anew(name: str) -> None:
    """A restart counts as a new connection, so that no session depends on it."""
    table = sit("snapshot")
    table.open()
    opened = table.ends[ANN].peer.state
    assert opened.play is not None
    if name == "resuming":
        state = msgspec.structs.replace(opened, resuming=True)
    else:
        play = msgspec.structs.replace(opened.play, **{name: True})
        state = msgspec.structs.replace(opened, play=play)
    data = vars(durable_peer)["encode_snapshot"](state, [], [])  # that of a durable peer
    states = encode_newer(opened.play.history, 0)
    restored, _, _ = snapshots.decode_snapshot(opened, data, states)
    assert restored == state
    assert restored != opened
