"""Moments of the opening: a table at which one side is about to get an honest message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import msgspec

from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.protocol.messages import (
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Launch,
    Message,
    Welcome,
    decode,
)
from channelsim.channel.protocol.state import Channel
from tests.channel.peer.hostile import Hostile
from tests.channel.table import ANN, BEN, Table, sit

STEPS: tuple[tuple[type[Message], int], ...] = (
    (Hello, BEN),
    (Welcome, ANN),
    (Launch, BEN),
    (FirstHalves, ANN),
    (Funding, BEN),
    (Funded, ANN),
)
"""The six messages, and who receives each."""


@dataclass(frozen=True)
class Moment:
    """A table at which this side is about to get the honest message of this step."""

    table: Table
    victim: int
    message: Message

    @property
    def keys(self) -> SecretKeys:
        """The keys of the side that cheats."""
        return SecretKeys.derive(self.table.ends[1 - self.victim].peer.config.secret)

    @property
    def channel(self) -> Channel:
        """The channel as the victim knows it, once there is one."""
        channel = self.table.ends[self.victim].peer.state.opening.channel
        assert channel is not None
        return channel

    def but(self, **changes: object) -> Hostile:
        """The honest message with these changes."""
        return self.table, self.victim, msgspec.structs.replace(self.message, **changes)


def at(kind: type[Message], victim: int, table: Table | None = None) -> Moment:
    """Up to this message, which is taken out of the mail.

    Without a table, a copy of one that tests share until one of them changes its chain.
    """
    if table is None:
        shared = _shared(kind, victim)
        return replace(shared, table=shared.table.fork())
    return _up_to(kind, victim, table)


@cache
def _shared(kind: type[Message], victim: int) -> Moment:
    moment = _up_to(kind, victim, sit())
    moment.table.chain.record = lambda change: _shared.cache_clear()
    return moment


def _up_to(kind: type[Message], victim: int, table: Table) -> Moment:
    if not table.sent:
        table.start()
    for _ in range(10):
        message = decode(table.mail[0][1])
        if isinstance(message, kind) and table.mail[0][0] == victim:
            table.take_mail()
            return Moment(table, victim, message)
        table.deliver()
    raise AssertionError("no such message")
