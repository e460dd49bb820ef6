"""Findings of a scan: facts, news, and spends that are due."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from channelsim.channel.peer.chain_news import Fact
from channelsim.channel.peer.interface import News, Push
from channelsim.channel.peer.onchain.dispute_state import Status
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin
from channelsim.channel.protocol.state import LiveGame
from channelsim.games.referee import GameCoin


class Findings(msgspec.Struct, frozen=True):
    """Findings of one part of a scan; those of all parts are added up, in order.

    `facts` hold in this block, `news` are new with it. `decided`, `warned`, `undecided` and
    `status` are as in `Dispute`.
    """

    facts: tuple[Fact, ...] = ()
    news: tuple[News, ...] = ()
    due: tuple[Push, ...] = ()
    decided: Mapping[GameCoin, LiveGame | None] = msgspec.field(default_factory=dict)
    warned: frozenset[bytes] = frozenset()
    undecided: Mapping[int, TrackedCoin] = msgspec.field(default_factory=dict)
    status: Status = Status.OPEN

    def __add__(self, other: Findings) -> Findings:
        """The findings of both, this part's first."""
        return Findings(
            self.facts + other.facts,
            self.news + other.news,
            self.due + other.due,
            {**self.decided, **other.decided},
            self.warned | other.warned,
            {**self.undecided, **other.undecided},
            self.status if other.status is Status.OPEN else other.status,
        )
