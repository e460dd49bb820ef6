"""What a driver tells a peer of its pushes: it follows from the node's answer and its mempool.

The sequences are those of the table of mempools (`tests/channel/chain/mempool_rows.py`); here, a
driver makes each push of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.interface import Answer, PushResult, pending_with
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.interface import Dropped, Event, Pinned, Push, Refused
from channelsim.channel.peer.push_answers import MOST_PENDING, fate
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.session.driver import Delivery, Driver
from channelsim.channel.session.peer_driver import DrivenPeer
from channelsim.channel.session.session_events import Pushed, SessionEvent
from tests.channel.chain.mempool_rows import sequences
from tests.channel.chain.mempool_sequences import groups, run
from tests.channel.chain.test_mempool_table import Embedded
from tests.channel.session.test_driver import Scripted

Case: TypeAlias = tuple[str, bool | None, bool | None]
"""An answer; and where it leaves that open, whether ours is pending, and whether another is."""

RULE: dict[Case, type | None] = {
    ("ACCEPTED", None, None): None,
    ("TOO_EARLY", None, None): None,
    ("ALREADY_SPENT", None, None): None,
    ("REFUSED", None, None): Refused,
    ("PENDING_CONFLICT", False, True): Pinned,
    ("KNOWN", False, True): Pinned,
    ("KNOWN", False, False): Dropped,
}
"""The event that follows from an answer of one node, which accepts what is pending there."""


class Offers(Delivery):
    """Delivery that notes the node's answers."""

    def __init__(self, chain: SimulatedChain) -> None:
        super().__init__(chain)
        self.answers: list[PushResult] = []

    def offer(self, index: int, bundle: Bundle) -> PushResult:
        self.answers.append(self.push(bundle))
        return self.answers[-1]


class Driven(Embedded):
    """The embedded node, to which a driver makes each push; `cases` are what came of them."""

    def __init__(self) -> None:
        super().__init__()
        self.cases: list[tuple[Case, type | None]] = []
        self._actor = Scripted()
        self._told: list[SessionEvent] = []
        self._offers = Offers(self.chain)
        peers = DrivenPeer("one", self._actor), DrivenPeer("two", Scripted())
        self._driver = Driver(self.chain, peers, [self._told.append], self._offers)

    def offer(self, bundle: Bundle) -> str:
        self._actor.events.clear()
        self._told.clear()
        self._driver.carry_out(0, [Push("it", bundle)])
        answer = self._offers.answers[-1]
        assert self._told[0] == Pushed("one", "it", bundle, answer)
        assert len(self._actor.events) <= 1
        event = self._actor.events[0] if self._actor.events else None
        self.cases.append((self._case(bundle, answer), None if event is None else type(event)))
        self._check(bundle, event)
        return answer.answer.name

    def _pending(self, bundle: Bundle) -> dict[Bundle, tuple[int, int]]:
        coins = {spend.coin for spend in bundle.spends}
        return {
            item.valid.bundle: (item.fee, item.cost)
            for item in self.chain.mempool.items()
            if coins & {spend.coin for spend in item.valid.bundle.spends}
        }

    def _case(self, bundle: Bundle, answer: PushResult) -> Case:
        if answer.answer not in (Answer.PENDING_CONFLICT, Answer.KNOWN):
            return answer.answer.name, None, None
        pending = self._pending(bundle)
        return answer.answer.name, bundle in pending, bool(pending.keys() - {bundle})

    def _check(self, bundle: Bundle, event: Event | None) -> None:
        """Compare the bundles of an event with the mempool."""
        if event is None:
            return
        assert isinstance(event, Pinned | Dropped | Refused)
        assert event.bundle == bundle
        if isinstance(event, Pinned):
            assert {one.bundle: (one.fee, one.cost) for one in event.pending} == self._pending(
                bundle
            )
            assert len(event.pending) == len({one.bundle for one in event.pending})


def test_the_event_follows_from_the_answer_and_what_is_pending() -> None:
    """In every sequence of the table; and each case of the rule occurs in one of them."""
    counts: Counter[Case] = Counter()
    for group in groups(sequences()):
        node = Driven()
        run(node, group)
        for case, event in node.cases:
            assert RULE[case] is event, case
            counts[case] += 1
    assert counts.keys() == RULE.keys()


# --- cases that one node by itself does not show ----------------------------------------------


def bundle_of(*numbers: int, solution: bytes = b"") -> Bundle:
    """A bundle that spends coins by number."""
    coins = [Coin(bytes(32), bytes(32), number) for number in numbers]
    return Bundle(tuple(Spend(coin, b"", solution) for coin in coins), NO_SIGNATURE)


OURS, THEIRS = bundle_of(1, 2), bundle_of(2, 3)


@pytest.mark.parametrize("answer", [Answer.PENDING_CONFLICT, Answer.KNOWN])
@pytest.mark.parametrize("ours", [OURS, Bundle(OURS.spends[::-1], NO_SIGNATURE)])
def test_ours_may_be_pending_after_all(answer: Answer, ours: Bundle) -> None:
    """In another node's mempool; or ours was on its way there when we pushed it again."""
    here, other = PendingBundle(ours, 5, 9), PendingBundle(THEIRS, 6, 9)
    result = PushResult(answer, "MEMPOOL_CONFLICT")
    assert fate(OURS, result, (here,)) == (PushResult(Answer.ACCEPTED), None)
    # One of several nodes has another bundle in the place of ours, which blocks may take instead.
    pinned = PushResult(Answer.ACCEPTED), Pinned(OURS, (other,))
    assert fate(OURS, result, (other, here)) == pinned


def test_a_conflict_that_is_gone_when_it_is_looked_for_says_nothing() -> None:
    result = PushResult(Answer.PENDING_CONFLICT, "MEMPOOL_CONFLICT")
    assert fate(OURS, result, ()) == (result, None)


def test_a_peer_hears_of_so_many_pending_bundles_and_no_more() -> None:
    """Whoever puts our claim into thousands of bundles must not fill our journal with them."""
    pending = tuple(PendingBundle(bundle_of(1, n), 0, 1) for n in range(3, MOST_PENDING + 4))
    ours = PendingBundle(OURS, 0, 1)
    result = PushResult(Answer.KNOWN, "ALREADY_INCLUDING_TRANSACTION")
    _, event = fate(OURS, result, pending)
    assert event == Pinned(OURS, pending[:MOST_PENDING])
    assert fate(OURS, result, (*pending, ours))[0].answer is Answer.ACCEPTED, "ours is the last"


class Asked(SimulatedChain):
    """A node with these pending bundles, in an order of its own, that notes the questions."""

    def __init__(self, *pending: PendingBundle) -> None:
        super().__init__(1)
        self.asked: list[bytes] = []
        self._pending = pending

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        self.asked.append(coin_id)
        return [
            one
            for one in self._pending
            if coin_id in {spend.coin.id for spend in one.bundle.spends}
        ]


@pytest.mark.parametrize("answer", Answer)
def test_the_node_is_asked_once_for_each_coin_and_only_where_its_answer_is_open(
    answer: Answer,
) -> None:
    pending = (
        PendingBundle(bundle_of(1, 2, solution=b"\x05"), 9, 1),
        PendingBundle(bundle_of(1), 7, 1),
        PendingBundle(bundle_of(2), 7, 1),
        PendingBundle(bundle_of(2, solution=b"\x01"), 7, 1),
    )
    first, *others = pending
    others.sort(key=lambda one: (one.bundle.spends[0].coin.id, one.bundle.spends[0].solution))
    twice = Bundle((*OURS.spends, *OURS.spends), NO_SIGNATURE)
    for order in (pending, pending[::-1]):
        chain = Asked(*order)
        found = pending_with(chain, twice, PushResult(answer))
        if answer in (Answer.PENDING_CONFLICT, Answer.KNOWN):
            assert found == (first, *others)
            assert chain.asked == [spend.coin.id for spend in OURS.spends]
        else:
            assert (found, chain.asked) == ((), [])
