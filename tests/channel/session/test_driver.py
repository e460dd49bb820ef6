"""The driver carries out every effect, in order, and reports what it does."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import get_args

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, condition
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.node.node_wallet import spend_of
from channelsim.channel.peer.interface import (
    Close,
    ComputeDeck,
    Connected,
    DeckComputed,
    Effect,
    Erase,
    Event,
    Ignored,
    Pinned,
    Proposed,
    Push,
    Received,
    Send,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.messages import Offer
from channelsim.channel.protocol.state import Group, Side
from channelsim.channel.session.driver import Delivery, Driver
from channelsim.channel.session.peer_driver import DrivenPeer, PeerStopped
from channelsim.channel.session.session_events import (
    BlockMade,
    Handled,
    NewsFor,
    Pushed,
    Sent,
    SessionEvent,
)
from channelsim.clsp.programs import Program
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.deck.terms import DeckTerms
from channelsim.games.deck.work import DeckWork
from channelsim.games.referee import CREATE_COIN
from tests.games.deck.toy_group import ToyGroup

IDENTITY = Program(bytes.fromhex("01"))
"""A puzzle whose solution is its conditions: anyone can spend its coins."""


OFFER = Offer(0, "spacepoker", {}, 15, True, 20, (10, 10), bytes(32), 64, 10)


@dataclass
class Scripted:
    """An actor that answers its events with these effects, one list after the other."""

    answers: deque[list[Effect]] = field(default_factory=deque)
    events: list[Event] = field(default_factory=list)

    def start(self, peak: int) -> list[Effect]:
        return self.answers.popleft() if self.answers else []

    def handle(self, event: Event) -> list[Effect]:
        self.events.append(event)
        if isinstance(event, Close):
            raise UsageError("not now")
        return self.answers.popleft() if self.answers else []


@dataclass
class Setting:
    """A driver of two scripted actors, and the events that it notified of."""

    driver: Driver
    actors: tuple[Scripted, Scripted]
    events: list[SessionEvent]

    @property
    def chain(self) -> SimulatedChain:
        assert isinstance(self.driver.chain, SimulatedChain)
        return self.driver.chain


def setting(*first: list[Effect], delivery: type[Delivery] = Delivery) -> Setting:
    chain = SimulatedChain(7)
    actors = (Scripted(deque(first)), Scripted())
    events: list[SessionEvent] = []
    peers = (DrivenPeer("one", actors[0]), DrivenPeer("two", actors[1]))
    return Setting(Driver(chain, peers, [events.append], delivery(chain)), actors, events)


def spend(coin: Coin, amount: int) -> Bundle:
    """A spend of an anyone's coin to a new one of this amount; the rest is a fee."""
    conditions = to_list([condition(CREATE_COIN, bytes(32), int_to_atom(amount))])
    return Bundle((spend_of(coin, IDENTITY.serialized, conditions),), NO_SIGNATURE)


def test_every_kind_of_effect_is_carried_out() -> None:
    chain = SimulatedChain(7)
    coin = chain.give(IDENTITY.hash, 1000)
    effects: list[Effect] = [
        Erase(1),
        Send(b"hello"),
        Push("pay", spend(coin, 900)),
        Watch(coin),
        ComputeDeck(DeckWork(ToyGroup(), DeckTerms(bytes(32), 1, 2, 8), 0, b"", None)),
        Tell(Ignored("nothing")),
    ]
    assert {type(effect) for effect in effects} == set(get_args(Effect))
    one, two = Scripted(deque([effects])), Scripted()
    events: list[SessionEvent] = []
    driver = Driver(chain, (DrivenPeer("one", one), DrivenPeer("two", two)), [events.append])
    driver.start()
    assert events == [
        Handled("one", None, tuple(effects)),
        Sent("one", b"hello"),
        Pushed("one", "pay", spend(coin, 900), PushResult(Answer.ACCEPTED)),
        NewsFor("one", Ignored("nothing")),
        Handled("two", None, ()),
    ]
    assert driver.deliver()
    assert not driver.deliver()
    assert two.events == [Received(b"hello")]
    assert driver.finish_step()
    assert not driver.finish_step()
    computed = one.events.pop()
    assert isinstance(computed, DeckComputed)
    assert computed.result.after is not None
    driver.farm()
    (block,) = one.events
    assert isinstance(block, Block)
    assert [(seen.coin, seen.spent is not None) for seen in block.coins] == [(coin, True)]
    assert events[-3] == BlockMade(chain.peak())


def test_a_conflict_with_a_pending_bundle_is_reported_to_the_peer_that_pushed() -> None:
    table = setting()
    coin = table.chain.give(IDENTITY.hash, 1000)
    first, second = spend(coin, 900), spend(coin, 901)
    table.driver.carry_out(Side.RECEIVER, [Push("theirs", first)])
    table.actors[0].answers.append([Tell(Ignored("pinned"))])
    table.driver.carry_out(Side.INITIATOR, [Push("ours", second)])
    (pending,) = table.chain.pending(coin.id)
    assert (pending.bundle, pending.fee) == (first, coin.amount - 900)
    assert table.actors[0].events == [Pinned(second, (pending,))]
    assert NewsFor("one", Ignored("pinned")) in table.events
    assert table.actors[1].events == []


def test_players_are_asked_in_order_and_once() -> None:
    offer, turn, other = Proposed(Group(Side.RECEIVER, (OFFER,))), YourTurn(3), YourTurn(4)
    table = setting([Tell(turn), Tell(offer)])
    table.driver.carry_out(Side.RECEIVER, [Tell(other)])
    table.driver.start()
    asked = [table.driver.next_question() for _ in range(4)]
    assert asked == [(0, offer), (0, turn), (1, other), None]


def test_an_impossible_command_changes_nothing() -> None:
    table = setting()
    with pytest.raises(UsageError):
        table.driver.handle(0, Close())
    assert table.events == []


@dataclass
class Mortal(Scripted):
    """An actor that can be restarted, and repeats one message on each connection."""

    stop: PeerStopped | None = None
    restarts: int = -1

    def start(self, peak: int) -> list[Effect]:
        self.restarts += 1
        return super().start(peak)

    def handle(self, event: Event) -> list[Effect]:
        stop, self.stop = self.stop, None
        if stop is not None:
            raise stop
        if isinstance(event, Connected):
            return [Send(b"again")]
        return super().handle(event)


COIN = Coin(bytes(32), bytes(32), 1)


@pytest.mark.parametrize("carried_out", [None, 0, 1, 2])
def test_a_stopped_peer_is_restarted_and_the_connection_made_again(carried_out: int | None) -> None:
    effects: list[Effect] = [Send(b"first"), Tell(YourTurn(1))]
    stop = PeerStopped(None if carried_out is None else effects, carried_out or 0)
    one = Mortal(deque([[Watch(COIN)], [Watch(COIN), Tell(YourTurn(2))]]))
    two, events = Mortal(), list[SessionEvent]()
    peers = (DrivenPeer("one", one), DrivenPeer("two", two))
    driver = Driver(SimulatedChain(7), peers, [events.append])
    driver.start()
    driver.carry_out(1, [Send(b"on its way")])
    del events[:]
    one.stop = stop
    driver.handle(0, Received(b"event"))
    assert one.restarts == 1
    assert peers[0].watched == [COIN]
    assert driver.next_question() == (0, YourTurn(2))
    assert list(driver.messages) == [(1, b"again"), (0, b"again")]
    handled = [event for event in events if isinstance(event, Handled) and event.event]
    reaction = [Handled("one", Received(b"event"), tuple(effects))]
    connected = [Handled(name, Connected(), (Send(b"again"),)) for name in ("one", "two")]
    assert handled[:-1] == ([] if carried_out is None else reaction) + connected
    assert isinstance(handled[-1].event, Block), "it hears of the newest block at once"
    said = [event.message for event in events if isinstance(event, Sent)]
    assert (b"first" in said) == ((carried_out or 0) > 0)


class Slow(Delivery):
    """Holds back what the initiator pushes for two blocks."""

    def delay(self, index: int) -> int:
        return 0 if index else 2


def test_delivery_decides_when_a_spend_arrives() -> None:
    table = setting(delivery=Slow)
    coin = table.chain.give(IDENTITY.hash, 1000)
    bundle = spend(coin, 900)
    table.driver.carry_out(0, [Push("late", bundle)])
    for _ in range(2):
        assert not any(isinstance(event, Pushed) for event in table.events)
        table.driver.farm()
    assert not table.chain.pending(coin.id)
    table.driver.farm()
    assert [one.name for one in table.events if isinstance(one, Pushed)] == ["late"]
    seen = table.chain.coin(coin.id)
    assert seen is not None
    assert seen.spent == table.chain.peak()
