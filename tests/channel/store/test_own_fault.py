"""A peer that fails to handle an event leaves the channel by its own fault, once and for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from channelsim import plugins
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.chain_news import ChannelClosed, ChannelSettled
from channelsim.channel.peer.interface import (
    Act,
    Close,
    Connected,
    DeckComputed,
    Fault,
    GoOnChain,
    OwnFault,
    PrepareDeck,
    ProposeGames,
    Push,
    Received,
)
from channelsim.channel.peer.machine import TRANSITIONS, Config, Peer, PeerState, Phase
from channelsim.channel.protocol.messages import (
    Batch,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Launch,
    Request,
    Shutdown,
    ShutdownDone,
    Welcome,
    encode,
)
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.event_codec import decode_event
from channelsim.channel.store.interface import StoreError
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games.contract import Action
from channelsim.watchdog import Overrun
from tests.channel.on_chain import reward
from tests.channel.table import ANN, BALANCE, BEN, STAKE, Table, sit, wish
from tests.games.deck.toy_group import ToyGroup

BLOCKS = 200
"""More than any of these channels needs."""


@dataclass
class Broken:
    """Handlers of one side that fail for one event, whenever it comes.

    It is the event number `number` (from 0) of this kind.
    """

    side: int
    kind: type
    number: int = 0
    error: BaseException = field(default_factory=lambda: InvariantError("planted"))
    phases: Sequence[Phase] = tuple(Phase)
    event: Any = None
    failures: int = 0

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        for row in (TRANSITIONS[phase] for phase in self.phases):
            handler = row.get(self.kind)
            if handler is not None:
                patch.setitem(row, self.kind, self._failing(handler))

    def _failing(self, handler: Any) -> Any:
        def handle(config: Config, state: PeerState, event: Any) -> Any:
            if config.side == self.side and self.event is None:
                self.event = event if self.number == 0 else None
                self.number -= 1
            if config.side == self.side and event == self.event:
                self.failures += 1
                raise self.error
            return handler(config, state, event)

        return handle


@dataclass
class Played:
    """A channel between two durable peers."""

    table: Table
    stores: tuple[MemoryStore, MemoryStore]
    proposed: bool = False

    def restart(self, side: int) -> None:
        end = self.table.ends[side]
        end.driven.actor = DurablePeer(Peer(end.peer.config), self.stores[side])
        self.table.driver.restart(side)

    def turn(self) -> None:
        """Do all that can be done before the next block, and make it."""
        table = self.table
        with suppress(UsageError):  # its peer went on chain with the question open
            table.go_on()
        playing = all(end.peer.phase is Phase.PLAYING for end in table.ends)
        if playing and not self.proposed:
            self.proposed = True
            table.propose(ANN)
            table.go_on()
        elif playing and not any(end.state.games or end.state.groups for end in table.ends):
            table.command(BEN, Close())
            table.go_on()
        table.farm()

    def finish(self) -> None:
        for _ in range(BLOCKS):
            if all(end.peer.phase in (Phase.CLOSED, Phase.FAILED) for end in self.table.ends):
                return
            self.turn()
        raise AssertionError("it does not end")


def durable(seed: str = "fault") -> Played:
    table = sit(seed)
    stores = MemoryStore(), MemoryStore()
    for end, store in zip(table.ends, stores, strict=True):
        end.driven.actor = DurablePeer(end.peer, store)
    table.start()
    return Played(table, stores)


def journal(store: MemoryStore) -> list[Any]:
    contents = store.load()
    found, block = [], Block(0)
    for data in (*contents.opening, *contents.events):
        event = decode_event(data, block)
        block = event if isinstance(event, Block) else block
        found.append(event)
    return found


@pytest.fixture(name="patch")
def _patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


OPENING = [(BEN, Hello), (ANN, Welcome), (BEN, Launch), (ANN, FirstHalves), (BEN, Funding)]
"""Messages before their receiver has signed what funds the channel."""

LATER = [
    *((ANN, Funded, 0), (ANN, Batch, 0), (BEN, Batch, 0), (BEN, Request, 0)),
    *((ANN, Batch, 2), (BEN, Batch, 2), (ANN, Shutdown, 0), (BEN, ShutdownDone, 0)),
]
"""Messages after that: the side that fails, and the number of the message of this kind."""


@pytest.mark.parametrize(
    ("side", "kind", "number"), [*((*one, 0) for one in OPENING), *LATER], ids=str
)
def test_a_message_that_cannot_be_handled_ends_the_channel_once_with_the_newest_state(
    side: int, kind: type, number: int, patch: pytest.MonkeyPatch
) -> None:
    played = durable()
    broken = Broken(side, kind, number)
    broken.plant(patch)
    end, other = played.table.ends[side], played.table.ends[1 - side]
    for _ in range(BLOCKS):
        if broken.failures:
            break
        played.turn()
    assert broken.failures == 1
    signed = end.peer.state.opening.opened is not None
    (news,) = end.news_of(OwnFault)
    assert isinstance(news, OwnFault)
    assert "InvariantError: planted" in news.reason
    assert (news.published is not None) == signed
    assert end.peer.phase is (Phase.ON_CHAIN if signed else Phase.FAILED)
    # The journal has the decision in the place of the message.
    events, message = journal(played.stores[side]), encode(broken.event)
    assert Received(message) not in events
    assert [one for one in events if isinstance(one, Fault)] == [Fault(news.reason)]
    # The other side repeats the message after restarts.
    for _ in range(2):
        played.restart(side)
        played.table.receive(side, message)
    assert broken.failures == 1
    # A mended version replays the same.
    before = end.peer.state
    patch.undo()
    played.restart(side)
    assert msgspec.structs.replace(end.peer.state, block=before.block) == before
    played.finish()
    assert len(end.news_of(OwnFault)) == 1
    if signed:
        assert news.published is not None
        paid(played.table, side, news.published)
    else:
        assert not [*end.news_of(ChannelSettled), *other.news_of(ChannelSettled)]
        assert reward(played.table, ANN) == reward(played.table, BEN) == 0


def test_a_message_before_play_that_cannot_be_handled_ends_the_channel(
    patch: pytest.MonkeyPatch,
) -> None:
    played = durable()
    end = played.table.ends[ANN]
    while end.peer.phase is not Phase.FUNDING:
        played.turn()
    Broken(ANN, Request, phases=(Phase.FUNDING,)).plant(patch)
    played.table.receive(ANN, encode(Request()))
    (news,) = end.news_of(OwnFault)
    assert isinstance(news, OwnFault)
    assert news.published is not None
    played.finish()


def paid(table: Table, side: int, published: int) -> None:
    """Check that both got what the published state, or a newer one of the other side, pays."""
    ends = table.ends
    if ends[side].news_of(ChannelClosed):  # the other side has completed the shutdown
        balances = ends[side].peer.play.history.state.balances
        assert (reward(table, ANN), reward(table, BEN)) == balances
        return
    (settled,) = ends[side].news_of(ChannelSettled)
    assert isinstance(settled, ChannelSettled)
    assert settled.number >= published
    counts = ends[side].peer.play.history.numbered(settled.number)
    assert counts is not None
    assert (settled.ours, settled.theirs) == (reward(table, side), reward(table, 1 - side))
    assert settled.ours + settled.theirs == 2 * BALANCE
    for index in (ANN, BEN):
        least = counts.balances[index]
        assert least <= reward(table, index) <= least + 2 * STAKE * len(counts.games)


@pytest.mark.parametrize(
    "error",
    [
        UsageError("planted"),
        RecursionError("planted"),
        plugins.WrongAnswer("planted"),
        Overrun("planted"),
        SystemExit("planted"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_handler_raises_is_a_fault(
    error: BaseException, patch: pytest.MonkeyPatch
) -> None:
    played = durable()
    Broken(ANN, Batch, error=error).plant(patch)
    played.finish()
    (news,) = played.table.ends[ANN].news_of(OwnFault)
    assert isinstance(news, OwnFault)
    assert type(error).__name__ in news.reason


def test_an_interrupt_is_no_fault(patch: pytest.MonkeyPatch) -> None:
    played = durable()
    Broken(ANN, Batch, error=KeyboardInterrupt()).plant(patch)
    with pytest.raises(KeyboardInterrupt):
        played.finish()
    assert not any(isinstance(one, Fault) for one in journal(played.stores[ANN]))


@pytest.mark.parametrize("kind", [Connected, ProposeGames, Act, Close])
def test_a_command_or_connection_that_cannot_be_handled_ends_the_channel_too(
    kind: type, patch: pytest.MonkeyPatch
) -> None:
    played = durable()
    side = BEN if kind is Close else ANN
    broken = Broken(side, kind, phases=[Phase.PLAYING])
    while played.table.ends[side].peer.phase is not Phase.PLAYING:
        played.turn()
    broken.plant(patch)
    if kind is Connected:
        played.table.driver.reconnect()
    played.finish()
    assert broken.failures == 1
    end = played.table.ends[side]
    (news,) = end.news_of(OwnFault)
    assert isinstance(news, OwnFault)
    assert news.published is not None
    paid(played.table, side, news.published)


def test_a_restart_that_cannot_take_its_connection_ends_the_channel(
    patch: pytest.MonkeyPatch,
) -> None:
    played = durable()
    while played.table.ends[ANN].peer.phase is not Phase.PLAYING:
        played.turn()
    Broken(ANN, Connected).plant(patch)
    for _ in range(2):
        played.restart(ANN)
    assert sum(isinstance(one, Fault) for one in journal(played.stores[ANN])) == 1
    played.finish()
    end = played.table.ends[ANN]
    # The player of the second process hears of it from the chain.
    (news,) = end.news_of(OwnFault)
    assert isinstance(news, OwnFault)
    assert news.published is not None
    paid(played.table, ANN, news.published)


def test_a_step_of_a_deck_that_cannot_be_used_ends_the_channel(patch: pytest.MonkeyPatch) -> None:
    table = sit("fault", decks=DeckSettings(4, 8, ToyGroup(), demonstration=True))
    store = MemoryStore()
    table.ends[BEN].driven.actor = DurablePeer(table.ends[BEN].peer, store)
    table.open()
    Broken(BEN, DeckComputed).plant(patch)
    table.command(BEN, PrepareDeck())
    while table.driver.finish_step():
        table.pump()
    assert table.ends[BEN].peer.phase is Phase.ON_CHAIN
    (fault,) = [one for one in journal(store) if isinstance(one, Fault)]
    assert "planted" in fault.reason
    again = DurablePeer(Peer(table.ends[BEN].peer.config), store)
    assert again.peer.phase is Phase.ON_CHAIN


@pytest.mark.parametrize("phase", ["play", "chain"])
def test_a_block_that_cannot_be_handled_has_no_fallback(
    phase: str, patch: pytest.MonkeyPatch
) -> None:
    """The store is as before, and the peer handles nothing more."""
    played = durable()
    while played.table.ends[ANN].peer.phase is not Phase.PLAYING:
        played.turn()
    if phase == "chain":
        played.table.command(ANN, GoOnChain())
    end = played.table.ends[ANN]
    before = end.peer.state
    Broken(ANN, Block).plant(patch)
    with pytest.raises(InvariantError, match="planted"):
        played.table.farm()
    patch.undo()
    for event in (Block(10**6), Connected(), Received(b""), GoOnChain()):
        with pytest.raises(InvariantError, match="planted"):
            end.driven.actor.handle(event)
    assert end.peer.state is before
    played.restart(ANN)
    assert (end.peer.phase, end.peer.play) == (before.phase, before.play)


def test_a_fault_on_chain_ends_the_process(patch: pytest.MonkeyPatch) -> None:
    """There is nothing to fall back to."""
    played = durable()
    while played.table.ends[ANN].peer.phase is not Phase.PLAYING:
        played.turn()
    played.table.command(ANN, GoOnChain())
    Broken(ANN, Act).plant(patch)
    for command in (Act(0, Action("call")), GoOnChain()):
        with pytest.raises(InvariantError, match="planted"):
            played.table.command(ANN, command)


class Full(MemoryStore):
    """A store whose writes fail from some time on, in one of two ways."""

    def __init__(self, after: bool, error: Exception) -> None:
        super().__init__()
        self.broken = False
        self._after, self._error = after, error

    def append(self, *given: Any) -> None:
        if not self.broken or self._after:
            super().append(*given)
        if self.broken:
            raise self._error

    def save_snapshot(self, *given: Any, erases: bool = False) -> None:
        if not self.broken or self._after:
            super().save_snapshot(*given, erases=erases)
        if self.broken:
            raise self._error


@pytest.mark.parametrize("snapshot", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("error", [StoreError("the disk is full"), TypeError("no bytes")])
def test_a_failed_write_is_no_fault_of_the_peer(
    error: Exception, after: bool, snapshot: bool
) -> None:
    """It never goes on chain for that, and handles nothing more."""
    table = sit("fault")
    store = Full(after, error)
    durable = DurablePeer(table.ends[ANN].peer, store, 0 if snapshot else 10**6)
    table.ends[ANN].driven.actor = durable
    table.open()
    store.broken = True
    for event in (ProposeGames((wish(),)), Received(encode(Request())), GoOnChain(), Connected()):
        with pytest.raises(type(error), match=str(error)):
            durable.handle(event)
    assert durable.peer.phase is Phase.PLAYING
    assert not table.ends[ANN].news_of(OwnFault)
    assert "unroll" not in {one.name for one in table.ends[ANN].effects if isinstance(one, Push)}
    again = DurablePeer(Peer(durable.peer.config), store)
    assert again.peer.phase is Phase.PLAYING
