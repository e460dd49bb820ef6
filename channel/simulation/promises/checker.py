"""Check after a run that no promise to the honest player was broken.

Only the messages, the chain, the rules of the games, and the news to the player are used. Source:
spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from channelsim.channel.findings.finding import Loss
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
from channelsim.channel.simulation.promises.old_copies import Restored, broken_to_copy, restored
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


def check(run: Run) -> list[BrokenPromise]:
    """The promises that this run broke, to both players where both are honest by agreement."""
    if not run.scenario.agreed:
        return _check(run)
    sides = [replace(run, scenario=replace(run.scenario, side=side)) for side in Side]
    return [*_check(sides[0]), *_check(sides[1])]


def _check(run: Run) -> list[BrokenPromise]:
    talk = conversation(run)
    failed = [BrokenPromise("duty", how) for how in failures(run)]
    copy = restored(run) if run.scenario.old_copy else None
    if copy is not None:
        return _with_loss(run, talk, [*failed, *_check_old_copy(run, talk, copy)])
    # After a broken law there is no state that both agree on.
    agreed = not talk.broken
    breaches: tuple[tuple[str, Iterable[str]], ...] = (
        ("money", losses(run)),
        ("law", talk.broken),
        ("safety", unsafe(run, talk) if agreed else ()),
        ("safety", other_moves(run, talk)),
        ("duty", dict.fromkeys(omissions(run, talk))),
        ("duty", dict.fromkeys(unwatched(run, talk))),
        ("duty", dict.fromkeys(wrong_fees(run, talk))),
        ("duty", wasted_numbers(run)),
        ("liveness", unsettled(run)),
        ("wishes", dict.fromkeys(talk.wishes.broken if talk.wishes is not None else ())),
        ("limits", past_limits(run, talk)),
        ("secrecy", secrecy(run)),
        ("news", unreported(run, talk) if agreed else ()),
        ("news", wrong_news(run, talk)),
        ("hands", unaccounted(run, talk)),
    )
    broken = (BrokenPromise(promise, how) for promise, hows in breaches for how in hows)
    return _with_loss(run, talk, [*failed, *broken])


def _with_loss(run: Run, talk: Conversation, broken: list[BrokenPromise]) -> list[BrokenPromise]:
    """Broken promises, with what a side lost where one of them may cost it money."""
    if not any(promise.promise in COSTS_MONEY for promise in broken):
        return broken
    loss = loss_of(run, talk)
    return [
        replace(promise, loss=promise.loss or loss) if promise.promise in COSTS_MONEY else promise
        for promise in broken
    ]


def _check_old_copy(run: Run, talk: Conversation, copy: Restored) -> Iterator[BrokenPromise]:
    """The promises to a side that runs on an old copy, and to the other one, if it is honest."""
    for how in losses(run):
        yield BrokenPromise("money", how)
    for promise, how in broken_to_copy(run, talk, copy):
        yield BrokenPromise(promise, how)
    if not run.scenario.adversary:
        other = replace(run.scenario, side=run.scenario.honest, old_copy=0)
        yield from check(replace(run, scenario=other))
