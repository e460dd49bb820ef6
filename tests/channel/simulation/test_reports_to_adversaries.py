"""An adversary does nothing more when its node reports on a push, or on fees."""

from __future__ import annotations

from channelsim.channel.adversaries.base import Adversary, Plan
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.observations import Block, PendingBundle
from channelsim.channel.peer.interface import (
    Connected,
    Dropped,
    Effect,
    Event,
    FeeRate,
    NodeReport,
    Pinned,
    Refused,
)
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.games.chance import Chance
from tests.channel.table import ANN, sit

BUNDLE = Bundle((), NO_SIGNATURE)
REPORTS: list[NodeReport] = [
    Pinned(BUNDLE, (PendingBundle(BUNDLE, 1, 1),)),
    Dropped(BUNDLE),
    Refused(BUNDLE, "INVALID_FEE_LOW_FEE"),
    FeeRate(3),
]


class Counting(Adversary):
    """An adversary that counts its opportunities."""

    count = 0

    def act(self) -> list[Effect]:
        self.count += 1
        return []


def test_a_report_is_no_opportunity() -> None:
    """What it pushes may be refused: reacting to that with another push would never end."""
    table = sit()
    plan = Plan(0, Chance(b"reports"), table.chain, lambda back, bundle=None: False)
    adversary = Counting(table.ends[ANN].peer, plan)
    adversary.start(1)
    assert adversary.due
    others: list[Event] = [Block(2), Connected()]
    for event in others:
        adversary.handle(event)
    assert adversary.count == len(others)
    for report in REPORTS:
        adversary.handle(report)
    assert adversary.count == len(others)
