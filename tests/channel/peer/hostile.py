"""Hostile messages: what each is, whom it goes to, and which rule it must be refused by.

A module of cases registers builders with `Cases.add`; every builder brings a fresh table to
the moment, and returns the victim and the bytes. `refuse` delivers them and checks all that
has to hold after any violation, whichever rule it broke.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from channelsim.channel.chain.interface import Answer
from channelsim.channel.peer.interface import BrokenOff, Effect, Ignored, Push, Send, Tell
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.half_signed import unroll_coin
from channelsim.channel.protocol.messages import Message, Request, encode
from tests.channel.table import NAMES, Table, broken_off

Hostile = tuple[Table, int, bytes | Message]
"""A table at the moment, the victim, and what it gets."""

Build = Callable[[], Hostile]


@dataclass(frozen=True)
class Case:
    """One hostile message; `rule` is the id that it must be refused by."""

    rule: str
    name: str
    build: Build


@dataclass
class Cases:
    """The cases of a module, by name."""

    cases: list[Case] = field(default_factory=list)

    def add(self, rule: str, name: str = "") -> Callable[[Build], Build]:
        def register(build: Build) -> Build:
            self.put(rule, name or build.__name__.strip("_"), build)
            return build

        return register

    def put(
        self, rule: str, name: str, build: Callable[..., Hostile], *args: Any, **more: Any
    ) -> None:
        """Add a case that calls `build` with these arguments."""
        self.cases.append(Case(rule, name, partial(build, *args, **more)))

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def each(self) -> pytest.MarkDecorator:
        """For a test that takes each `case` in turn."""
        ids = [f"{case.rule}-{case.name.replace('_', '-')}" for case in self.cases]
        return pytest.mark.parametrize("case", self.cases, ids=ids)


def refuse(table: Table, victim: int, message: bytes | Message, rule: str) -> BrokenOff:
    """Deliver it: refused by this rule, nothing changed, the newest state published."""
    end = table.ends[victim]
    peer = end.peer
    before, phase = peer.state.play, peer.phase
    effects = table.receive(victim, message)
    news = broken_off(end)
    violation = news.blame
    assert violation.rule == rule, violation
    assert violation.party == NAMES[1 - victim]
    assert violation.step.startswith(phase.value)
    assert str(violation) == f"{violation.party}, at {violation.step}: {rule}: {violation.detail}"
    assert "\n" not in str(violation)
    assert not [effect for effect in effects if isinstance(effect, Send)]
    assert peer.state.play == before
    if before is None:
        assert peer.phase is Phase.FAILED
        assert news.published is None
        assert effects == [Tell(news)]
    else:
        published(table, victim, news)
    stays_off(table, victim)
    return news


def published(table: Table, victim: int, news: BrokenOff) -> None:
    """The newest state that the victim can complete is published, and the node takes it."""
    end = table.ends[victim]
    newest = end.play.newest
    assert end.peer.phase is Phase.ON_CHAIN
    assert news.published == newest.state.number
    assert newest.state.number % 2 == victim
    coin = unroll_coin(table.channel, newest.state)
    assert coin in end.watched
    if table.chain.coin(table.channel.coin.id) is None:
        # Mempools take no spend of a coin that is itself pending: it is spent once it is there.
        assert "unroll" not in [name for name, _, _ in end.pushed]
        return
    name, bundle, result = end.pushed[-1]
    assert name == "unroll"
    assert result.answer is Answer.ACCEPTED, result
    assert [spend.coin for spend in bundle.spends] == [table.channel.coin]


def stays_off(table: Table, victim: int) -> None:
    """From then on what the other side says no longer counts."""
    peer = table.ends[victim].peer
    before = peer.state.play
    for message in (encode(Request()), b"", b"\xc1"):
        effects = table.receive(victim, message)
        assert [type(effect) for effect in effects] == [Tell]
        assert isinstance(table.ends[victim].news[-1], Ignored)
    assert peer.state.play == before


def quiet(effects: list[Effect]) -> bool:
    """True if nothing was done about it but to tell the player that it was ignored."""
    return all(isinstance(effect, Tell) and isinstance(effect.news, Ignored) for effect in effects)


def kinds(effects: list[Effect]) -> list[str]:
    """The kinds of effects: pushes by name, news by their class."""
    found = []
    for effect in effects:
        match effect:
            case Push(name):
                found.append(name)
            case Tell(news):
                found.append(type(news).__name__)
            case _:
                found.append(type(effect).__name__)
    return found
