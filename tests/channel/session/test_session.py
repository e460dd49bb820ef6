"""Whole sessions: every pair of policies, every way to end, and every mojo accounted for."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import pytest

from channelsim.channel.chain.coins import Coin
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Acted, Effect, Event, GameSettled, Tell
from channelsim.channel.peer.limits import Limits
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.result import Result
from channelsim.channel.session.script import Script, ScriptedHand
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import (
    Answered,
    BlockMade,
    ChannelFunded,
    Closed,
    HandEnded,
    HandStarted,
    NewsFor,
    NoMoreHands,
    Pushed,
    Sent,
    SessionEvent,
)
from channelsim.channel.session.setup import NAMES, Setup, check
from channelsim.games import registry
from tests.sampling import one_in

GAME = registry.get("spacepoker")
PAIRS = list(product(("caller", "random", "aggressive", "folder"), repeat=2))
UNIT, STACK = 100, 10
STAKE = UNIT * STACK


@dataclass
class Played:
    """A finished session and its events."""

    result: Result
    events: list[SessionEvent] = field(default_factory=list)

    def of(self, kind: type[SessionEvent]) -> list[SessionEvent]:
        return [one for one in self.events if isinstance(one, kind)]

    def bytes_sent(self) -> list[tuple[str, bytes]]:
        return [(one.sender, one.message) for one in self.events if isinstance(one, Sent)]


def play(
    seed: str = "session",
    policies: tuple[str, str] = ("random", "random"),
    hands: int = 2,
    stakes: int = 5,
    script: Script | None = None,
) -> Played:
    balance = stakes * STAKE
    setup = check(Setup(("spacepoker",), seed, hands, UNIT, STACK, balance, policies, script))
    events: list[SessionEvent] = []

    result = Session(Deciders(setup), [events.append]).run()
    return Played(result, events)


def conserved(session: Played, stakes: int = 5) -> None:
    """Check that no mojo is lost, at every settlement and in the coins of the close."""
    result = session.result
    total = 2 * stakes * STAKE
    assert result.checks.conserved
    assert result.checks.python_clvm_agree
    assert result.disagreements == ()
    assert sum(result.balances) == total == result.channel_coin.amount
    paid = [coin.amount if isinstance(coin, Coin) else 0 for coin in result.rewards]
    assert tuple(paid) == result.balances
    balances = [stakes * STAKE] * 2
    for ended in session.of(HandEnded):
        assert isinstance(ended, HandEnded)
        hand = ended.hand
        assert hand.payouts is not None
        assert sum(hand.payouts) == hand.terms.amount
        for name, payout in zip(hand.names, hand.payouts, strict=True):
            balances[NAMES.index(name)] += payout - STAKE
        assert ended.balances == tuple(balances)
    assert result.balances == tuple(balances)
    for one in session.of(Pushed):
        assert isinstance(one, Pushed)
        assert one.result.benign, one.result


@pytest.mark.parametrize("policies", one_in(6, PAIRS))
def test_every_pair_of_policies(policies: tuple[str, str]) -> None:
    session = play(f"a-{'-'.join(policies)}", policies)
    conserved(session)
    assert session.result.hands
    assert isinstance(session.events[-1], Closed)


@pytest.mark.long
@pytest.mark.parametrize("policies", PAIRS, ids="-".join)
def test_every_pair_of_policies_over_many_seeds(policies: tuple[str, str]) -> None:
    for seed in range(6):
        conserved(play(f"{seed}", policies, hands=6))


def test_proposers_and_alice_alternate() -> None:
    session = play(policies=("caller", "caller"), hands=4)
    started = [one for one in session.events if isinstance(one, HandStarted)]
    assert [one.proposer for one in started] == [*NAMES, *NAMES]
    assert [one.hand.names for one in started] == [NAMES, NAMES[::-1]] * 2
    assert [one.game_id for one in started] == [0, 1, 2, 3]
    assert len(session.result.hands) == 4


def ends(session: Played) -> set[str]:
    """The ends of a session's hands: a fold, a tie, or a showdown."""
    found = set()
    for ended in session.events:
        if isinstance(ended, HandEnded):
            last = ended.hand.steps[-1].action.verb
            tie = ended.hand.payouts == (STAKE, STAKE)
            found.add("fold" if last == "fold" else "tie" if tie else "showdown")
    return found


def test_hands_end_by_showdown_and_by_fold() -> None:
    assert ends(play("x", ("caller", "caller"), hands=3)) == {"showdown"}
    found: set[str] = set()
    for seed in range(12):
        found |= ends(play(f"fold {seed}", ("folder", "folder"), hands=3))
        if "fold" in found:
            break
    assert "fold" in found


@pytest.mark.long
def test_a_hand_may_end_in_a_tie() -> None:
    # One hand in thirty: a tie in these surely.
    seeds = range(30)
    assert any(
        "tie" in ends(play(f"tie {seed}", ("caller", "caller"), hands=20, stakes=50))
        for seed in seeds
    )


def test_a_session_ends_when_a_balance_no_longer_covers_the_stake() -> None:
    for seed in range(20):
        session = play(f"broke {seed}", ("aggressive", "aggressive"), hands=30, stakes=1)
        conserved(session, stakes=1)
        (reason,) = [one.reason for one in session.events if isinstance(one, NoMoreHands)]
        if "no longer covers" in reason:
            assert min(session.result.balances) < STAKE
            assert len(session.result.hands) < 30
            return
    raise AssertionError("nobody ever goes broke")


def test_a_session_ends_with_one_player_owning_everything() -> None:
    for seed in range(60):
        session = play(f"all {seed}", ("aggressive", "aggressive"), hands=1, stakes=1)
        conserved(session, stakes=1)
        if 0 in session.result.balances:
            loser = session.result.balances.index(0)
            assert session.result.rewards[loser] is None
            assert session.result.rewards[1 - loser] is not None
            return
    raise AssertionError("nobody ever loses everything")


@pytest.mark.parametrize(("name", "number"), [("receiver", 0), ("initiator", 1), ("receiver", 2)])
def test_a_session_ends_when_someone_declines(name: str, number: int) -> None:
    script = Script((*[ScriptedHand()] * number, ScriptedHand(decline=name)))
    session = play(policies=("caller", "caller"), hands=5, script=script)
    conserved(session)
    assert len(session.result.hands) == number
    (reason,) = [one.reason for one in session.events if isinstance(one, NoMoreHands)]
    assert reason == f"the {name} declined hand {number + 1}"
    answers = [one for one in session.events if isinstance(one, Answered)]
    assert [one.accepts for one in answers] == [True] * number + [False]


def test_events_come_in_order() -> None:
    session = play(hands=1, policies=("caller", "caller"))
    order = [type(one) for one in session.events]
    places = [
        order.index(kind) for kind in (ChannelFunded, HandStarted, HandEnded, NoMoreHands, Closed)
    ]
    assert places == sorted(places)
    settled = [
        one.news
        for one in session.events
        if isinstance(one, NewsFor) and isinstance(one.news, GameSettled)
    ]
    assert [news.by_us for news in settled] in ([True, False], [False, True])
    assert any(isinstance(one, BlockMade) for one in session.events)


# --- the same bytes, and no signature twice ------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    first, second, other = play("one"), play("one"), play("two")
    assert first.bytes_sent() == second.bytes_sent()
    assert first.events == second.events
    assert first.result == second.result
    same = set(first.bytes_sent()) & set(other.bytes_sent())
    # Only a message that has nothing in it is the same: a request.
    assert all(len(message) < 20 for _, message in same)


def test_policies_change_the_play_and_not_the_secrets() -> None:
    first, second = play("one", ("caller", "caller")), play("one", ("folder", "aggressive"))
    assert first.bytes_sent()[:6] == second.bytes_sent()[:6]
    assert first.bytes_sent() != second.bytes_sent()


def test_no_signature_is_made_or_checked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither side repeats an operation on the same key and message in a whole session."""
    seen: list[tuple[str, str, bytes, bytes]] = []
    acting = [""]
    handle = Peer.handle

    def watched(self: Peer, event: Event) -> list[Effect]:
        before, acting[0] = acting[0], self.config.name
        try:
            return handle(self, event)
        finally:
            acting[0] = before

    monkeypatch.setattr(Peer, "handle", watched)
    with bls.observed(lambda *operation: seen.append((acting[0], *operation))):
        session = play("once", ("random", "random"), hands=3)
    conserved(session)
    assert [one for one in set(seen) if seen.count(one) > 1] == []
    batches = sum(b"\xa5batch" in message for _, message in session.bytes_sent())
    signs = sum(operation == "sign" for _, operation, _, _ in seen)
    verifies = sum(operation == "verify" for _, operation, _, _ in seen)
    # Two halves a batch. On top: two hellos of three signatures, the halves of two opening
    # states, two wallets (the initiator checks the sum, its own among them), one shutdown.
    assert signs == 2 * batches + 2 * 3 + 2 * 2 + 2 + 2
    assert verifies == 2 * batches + 2 * 3 + 2 * 2 + (1 + 2) + 2


class Hushed:
    """A peer that says nothing of what its player did."""

    def __init__(self, peer: Peer) -> None:
        self.start = peer.start
        self._peer = peer

    def handle(self, event: Event) -> list[Effect]:
        effects = self._peer.handle(event)
        return [one for one in effects if not (isinstance(one, Tell) and type(one.news) is Acted)]


def test_a_move_that_no_player_made_is_a_bug() -> None:
    setup = Setup(("spacepoker",), "hushed", 1, UNIT, STACK, STAKE, ("caller", "caller"))
    with pytest.raises(InvariantError, match="a move that no player made"):
        Session(Deciders(setup), wrap=Hushed).run()


def test_a_session_ends_near_the_limit_of_states() -> None:
    """No hand is begun near it, and the one that is live is played to its end."""
    setup = Setup(("calpoker",), "limits", 50, 1, 100, 10_000, ("random", "random"))
    limits = Limits(60, 1 << 20, demonstration=True)
    result = Session(Deciders(setup), limits=limits).run()
    assert 3 <= len(result.hands) < 50
    assert result.reason == "the channel is near its limit of 60 states"
    assert result.checks.conserved
