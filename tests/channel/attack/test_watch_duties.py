"""Sights of a watcher: true ones are not found, and each wrong field is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack import watch_duties
from channelsim.channel.attack.watch_duties import false_sight
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.protocol.spend_parsing import PaidByUnroll
from channelsim.channel.watch.watcher import Sight, Step

OWNER, OTHER = bytes([8]) * 32, bytes([9]) * 32
CHANNEL = Coin(bytes(32), bytes(32), 100)
UNROLL = Coin(CHANNEL.id, bytes([1]) * 32, 100)
STATE: Any = SimpleNamespace(number=4, puzzle_hash=UNROLL.puzzle_hash, conditions=b"conditions")
NEWER: Any = SimpleNamespace(number=5, puzzle_hash=bytes(32), conditions=b"solution")
DATA: Any = SimpleNamespace(
    channel=SimpleNamespace(
        coin=CHANNEL, side=0, rewards=(OWNER, OTHER), unroll_timeout=9, confirmations=3
    ),
    states={4: STATE, 5: NEWER},
    newest=SimpleNamespace(state=SimpleNamespace(number=4)),
)


@pytest.fixture(autouse=True)
def _read(monkeypatch: pytest.MonkeyPatch) -> None:
    coins = ((OWNER, 60), (OTHER, 10), (bytes(32), 30))
    read = {b"conditions": PaidByUnroll(4, coins, False), b"solution": PaidByUnroll(5, (), True)}
    monkeypatch.setattr(watch_duties, "read_unroll", read.get)


def chain(peak: int, spent: int | None = None, *, shut: bool = False, is_told: bool = True) -> Any:
    """The chain with the channel coin spent at height 10, and its unroll coin perhaps later."""
    solution = b"solution" if spent is not None and is_told else None
    coins = {
        UNROLL.id: CoinSeen(UNROLL, 10, spent, solution),
        CHANNEL.id: CoinSeen(CHANNEL, 2, 10, None),
    }
    # A node gives no solutions with the children of a coin.
    children = [] if shut else [CoinSeen(UNROLL, 10, spent)]
    return SimpleNamespace(peak=lambda: peak, coin=coins.get, children=lambda coin_id: children)


STALE_DATA: Any = SimpleNamespace(
    channel=SimpleNamespace(**{**vars(DATA.channel), "side": 1, "rewards": (OTHER, OWNER)}),
    states=DATA.states,
    newest=SimpleNamespace(state=SimpleNamespace(number=5)),
)
"""The data of the receiver, which has state 5: state 4 of the initiator is stale."""

STALE = Sight(Step.STALE, 16, 4, 10, 13, 18, stake=100)
PUBLISHED = Sight(Step.PUBLISHED, 16, 4, 10, 19, stake=90)


@pytest.mark.parametrize(("data", "sight"), [(STALE_DATA, STALE), (DATA, PUBLISHED)])
@pytest.mark.parametrize(
    "wrong", [{"state": 5}, {"since": 11}, {"latest": 19}, {"late": True}, {"stake": 10}]
)
def test_a_published_state_is_seen_as_it_is(data: Any, sight: Sight, wrong: dict[str, Any]) -> None:
    assert [*false_sight(chain(16), data, sight)] == []
    assert len([*false_sight(chain(16), data, replace(sight, **wrong))]) == 1


@pytest.mark.parametrize(("data", "sight"), [(STALE_DATA, PUBLISHED), (DATA, STALE)])
def test_a_state_is_stale_or_not_by_its_number(data: Any, sight: Sight) -> None:
    (found,) = false_sight(chain(16), data, sight)
    assert found.endswith("is right")


def test_a_preemption_is_late_after_two_thirds_of_its_time() -> None:
    late = replace(STALE, peak=17, late=True)
    assert [*false_sight(chain(17), STALE_DATA, late)] == []
    assert [*false_sight(chain(17), STALE_DATA, replace(late, late=False))]


PAID = Sight(Step.PAID, 16, 5, 14)


@pytest.mark.parametrize(
    ("sight", "is_right"),
    [
        (PAID, True),
        (replace(PAID, final=True), False),
        (replace(PAID, since=13), False),
        (replace(PAID, state=4), False),
        (replace(PAID, peak=17, final=True), True),
        (replace(PAID, peak=17), False),
        (Sight(Step.OPEN, 16, since=2), False),
        # A block came while it looked.
        (replace(PAID, peak=15), True),
        (Sight(Step.UNKNOWN, 16, None, 14), False),
    ],
)
def test_a_payout_is_final_when_it_is_deep(sight: Sight, is_right: bool) -> None:
    peak = 17 if sight.peak == 17 else 16
    assert ([*false_sight(chain(peak, 14), DATA, sight)] == []) is is_right


def test_a_payout_whose_spend_nobody_tells_may_be_unknown() -> None:
    hidden = chain(16, 14, is_told=False)
    assert [*false_sight(hidden, DATA, Sight(Step.UNKNOWN, 16, None, 14))] == []


def test_a_shutdown_is_final_when_it_is_deep() -> None:
    shut = Sight(Step.SHUT, 12, since=10)
    assert [*false_sight(chain(12, shut=True), DATA, shut)] == []
    assert [*false_sight(chain(13, shut=True), DATA, replace(shut, peak=13))]
