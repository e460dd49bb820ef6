"""Check after a run that no promise to the honest player was broken.

Only the messages, the chain, the rules of the games, and the news to the player are used. Source:
spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from channelsim.channel.findings.finding import EXCEPTION, THEFT, Loss
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.due_spends import (
    omissions,
    other_moves,
    unwatched,
)
from channelsim.channel.simulation.promises.fee_duties import wrong_fees
from channelsim.channel.simulation.promises.loss import COSTS_MONEY, loss_of
from channelsim.channel.simulation.promises.news import failures, unaccounted, wrong_news
from channelsim.channel.simulation.promises.own_limits import past_limits, wasted_numbers
from channelsim.channel.simulation.promises.safety import losses, unreported, unsafe, unsettled
from channelsim.channel.simulation.promises.secrecy import secrecy
from channelsim.channel.simulation.run import Run


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A broken promise, how it was broken, and who lost how much by it, if that is known."""

    promise: str
    how: str
    loss: Loss | None = None


SEVERITY = {EXCEPTION: EXCEPTION, "money": THEFT}
"""The severity of a broken promise, if it is another one than that."""

Find: TypeAlias = Callable[[Run, Conversation], Iterable[str]]
"""Finds how a promise was broken in a run, as the messages and the chain show it."""

CHECKS: tuple[tuple[str, Find], ...] = (
    ("duty", lambda run, talk: failures(run)),
    ("money", lambda run, talk: losses(run)),
    ("law", lambda run, talk: talk.broken),
    ("safety", unsafe),
    ("safety", other_moves),
    ("duty", omissions),
    ("duty", unwatched),
    ("duty", wrong_fees),
    ("duty", lambda run, talk: wasted_numbers(run)),
    ("liveness", lambda run, talk: unsettled(run)),
    ("wishes", lambda run, talk: talk.wishes.broken if talk.wishes is not None else ()),
    ("limits", past_limits),
    ("secrecy", lambda run, talk: secrecy(run)),
    ("news", unreported),
    ("news", wrong_news),
    ("hands", unaccounted),
)
"""The promises by name, each with its checks, for disputes and for attacked sessions."""

OF_AGREED_STATES: tuple[Find, ...] = (unsafe, unreported)
"""Checks against states that both sides agree on: after a broken law there are none."""


def check(run: Run) -> list[BrokenPromise]:
    """The promises that this run broke, to both players where both are honest by agreement."""
    if not run.scenario.is_agreed:
        return _check(run)
    sides = [replace(run, scenario=replace(run.scenario, side=side)) for side in Side]
    return [*_check(sides[0]), *_check(sides[1])]


def _check(run: Run) -> list[BrokenPromise]:
    talk = conversation(run)
    left_out = OF_AGREED_STATES if talk.broken else ()
    broken = [
        BrokenPromise(promise, how)
        for promise, find in CHECKS
        if find not in left_out
        for how in dict.fromkeys(find(run, talk))
    ]
    return with_loss(run, talk, broken)


def with_loss(run: Run, talk: Conversation, broken: list[BrokenPromise]) -> list[BrokenPromise]:
    """Broken promises, with what a side lost where one of them may cost it money."""
    if not any(promise.promise in COSTS_MONEY for promise in broken):
        return broken
    loss = loss_of(run, talk)
    return [
        replace(promise, loss=promise.loss or loss) if promise.promise in COSTS_MONEY else promise
        for promise in broken
    ]
