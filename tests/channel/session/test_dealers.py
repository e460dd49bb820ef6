"""Decks for the hands of a session: prepared ahead, or from a simulated dealer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from hashlib import sha256
from time import sleep
from typing import TypeVar

import pytest

from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Close,
    DeckReady,
    PrepareDeck,
    Proposed,
)
from channelsim.channel.protocol.messages import Batch, DeckStep, Propose, decode
from channelsim.channel.protocol.proposals import offer_of
from channelsim.channel.protocol.state import Group
from channelsim.channel.session import session as sessions
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.deck_works import DeckThreads, Pace, SecretsOf, on_demand
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import (
    Decided,
    HandEnded,
    NewsFor,
    Sent,
    SessionEvent,
)
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.session.threads import SystemThreads
from channelsim.games.contract import Action, Player
from channelsim.games.deck.work import DeckResult, DeckWork
from tests.channel.peer.decks import high_card
from tests.channel.peer.decks.test_pool import SETTINGS
from tests.channel.peer.decks.test_proposals import SETTINGS as DECKS
from tests.channel.peer.decks.test_proposals import call, high, prepare
from tests.channel.table import ANN, BEN, STAKE, Cheat, sit


def setup(hands: int, seed: str = "dealers") -> Setup:
    return Setup(("holdem",), seed, hands, 100, 10, 10_000, ("caller", "caller"))


def played(one: Setup, *, simulated: bool = False) -> list[SessionEvent]:
    """All events of a session."""
    events: list[SessionEvent] = []
    result = Session(Deciders(one), [events.append], simulated_dealer=simulated).run()
    assert len(result.hands) == one.hands
    assert result.checks.python_clvm_agree
    assert result.checks.conserved
    return events


def messages(events: list[SessionEvent]) -> list[object]:
    return [decode(event.message) for event in events if isinstance(event, Sent)]


def decks_named(events: list[SessionEvent]) -> list[int]:
    offers = [
        offer
        for message in messages(events)
        if isinstance(message, Batch)
        for action in message.actions
        if isinstance(action, Propose)
        for offer in action.offers
    ]
    return [offer.deck.number for offer in offers if offer.deck is not None]


def test_a_simulated_dealer_gives_every_hand_a_deck_without_messages() -> None:
    events = played(setup(3), simulated=True)
    assert decks_named(events) == [1, 2, 3]
    assert not any(isinstance(message, DeckStep) for message in messages(events))


def test_a_hand_is_played_with_a_deck_that_both_peers_prepared() -> None:
    events = played(setup(1))
    steps = [message.step for message in messages(events) if isinstance(message, DeckStep)]
    assert steps == [1, 2, 3, 4, 5], "no more decks than hands"
    assert decks_named(events) == [1]
    ready = [event for event in events if isinstance(event, NewsFor)]
    assert sum(isinstance(event.news, DeckReady) for event in ready) == 2


@pytest.mark.long
def test_decks_are_prepared_while_players_think_and_always_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However long a step takes: the transcript does not depend on the machine."""

    class Slow(DeckThreads):
        def __call__(self, side: int, work: DeckWork) -> Callable[[], DeckResult]:
            wait = super().__call__(side, work)

            def later() -> DeckResult:
                sleep(0.05 * (work.step % 3))
                return wait()

            return later

    digests = []
    for threads in (DeckThreads, Slow):
        monkeypatch.setattr(sessions, "DeckThreads", threads)
        events = played(setup(3))
        blobs = [event.message for event in events if isinstance(event, Sent)]
        digests.append(sha256(b"".join(blobs)).hexdigest())
        assert decks_named(events) == [1, 2, 3]
        ends = [at for at, event in enumerate(events) if isinstance(event, HandEnded)]
        ready = [
            at
            for at, event in enumerate(events)
            if isinstance(event, NewsFor) and isinstance(event.news, DeckReady)
        ]
        assert ready[2] < ends[0], "the second deck is ready before the first hand is over"
        thought = [at for at, event in enumerate(events) if isinstance(event, Decided)]
        assert thought[0] < ready[2]
    assert digests[0] == digests[1]


def test_what_fails_in_the_background_is_not_lost() -> None:
    """An error while a player thinks ends the session."""

    class Broken(Deciders):
        def decide(self, name: str, number: int, player: Player) -> Action:
            raise InvariantError("decided wrongly")

    with pytest.raises(InvariantError, match="decided wrongly"):
        Session(Broken(setup(1)), simulated_dealer=True).run()


def test_new_decks_of_a_side_begin_two_seconds_apart() -> None:
    """PD-17: an earlier start is held back, and is no fault."""
    pace = Pace()
    begun = [now + pace.delay(now) for now in (10.0, 10.0, 10.1, 11.0, 20.0, 21.9)]
    assert begun == [10.0, 12.0, 14.0, 16.0, 20.0, 22.0]


T = TypeVar("T")


class Unhurried(SystemThreads):
    """Threads that note the pause before each call, and make it at once."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def begin(self, call: Callable[[], T], delay: float = 0.0) -> Future[T]:
        self.pauses.append(delay)
        return super().begin(call)


def test_only_new_decks_are_held_back() -> None:
    unhurried = Unhurried()
    threads = DeckThreads(threads=unhurried)
    terms = SETTINGS.terms(bytes(32), 1)
    start = DeckWork(SETTINGS.group, terms, 0, b"", None)
    first = threads(1, start)()
    assert first.after is not None
    threads(1, start)()
    threads(0, DeckWork(SETTINGS.group, terms, 1, first.answer, None))()
    threads(1, DeckWork(SETTINGS.group, terms, 2, b"", first.after))()
    threads.close()
    assert unhurried.pauses[0] == 0
    assert 1 < unhurried.pauses[1] <= 2
    assert unhurried.pauses[2:] == [0, 0]


def test_the_receiver_s_player_prepares_the_next_deck_during_a_hand() -> None:
    """One at a time, and none after the last hand."""
    with high_card.registered():
        table = sit("ahead", decks=DECKS).open()
        one = Setup(("highcard",), "ahead", 2, 100, 10, 10_000, ("caller", "caller"))
        ann, ben = (SidePlayer(one, end.peer, by_policy("caller", bytes(32))) for end in table.ends)
        for number in (1, 2):
            assert not isinstance(ann.next_command(), PrepareDeck)
            assert ben.next_command() == PrepareDeck()
            prepare(table)
            assert [*table.ends[BEN].play.decks.ready] == [number]
            assert ben.next_command() != PrepareDeck()
            table.propose(number % 2, high()).until(lambda: bool(table.ends[BEN].state.games))
            if number == 1:
                assert ben.next_command() == PrepareDeck(), "the hand has just begun"
            table.go_on(call, call).farm().go_on(call, call)
        assert (ann.next_command(), ben.next_command()) == (Close(), None)


@pytest.mark.parametrize(
    ("alice", "skipped", "reason"),
    [
        (True, 0, ""),
        (False, 0, "other seats than those agreed on"),
        (True, 2, ""),
        (True, 10, "more than 4 ids were used for hand 1"),
    ],
)
def test_a_player_accepts_the_next_hand_alone(alice: bool, skipped: int, reason: str) -> None:
    """GEN-1, ROT-1: whoever proposes does not choose the button, and ids count no hands."""
    with high_card.registered():
        table = prepare(sit("seats", decks=DECKS).open())
        one = Setup(("highcard",), "seats", 8, STAKE, 1, 10_000, ("caller", "caller"))
        ben = SidePlayer(one, table.ends[BEN].peer, by_policy("caller", bytes(32)))
        table.ask(ANN)
        offer = offer_of(table.channel, ANN, skipped, high(alice=alice, deck=1))
        table.receive(BEN, Cheat(table, ANN).batch(Propose((offer,))))
        answer = ben.answer(Proposed(Group(ANN, (offer,))))
        accepted = AcceptGames(offer.game_id)
        assert answer == (CancelGames(offer.game_id, reason) if reason else accepted)


def test_secrets_are_drawn_from_what_the_driver_says() -> None:
    asked: list[tuple[int, int]] = []

    def fixed(side: int, number: int) -> Callable[[int], bytes]:
        asked.append((side, number))
        return lambda size: bytes([7]) * size

    secrets_of: SecretsOf = fixed
    work = DeckWork(SETTINGS.group, SETTINGS.terms(bytes(32), 5), 0, b"", None)
    made = [on_demand(secrets_of)(1, work)() for _ in range(2)]
    assert made[0] == made[1]
    assert asked == [(1, 5), (1, 5)]
    assert on_demand()(1, work)() != on_demand()(1, work)(), "the system's generator"
