"""What can go wrong in an attacked session, and what its players may want, as data.

Each action waits for its number on one of five counters: of a side's messages, events, calls of its
node and statements of its store, or of the chain's blocks. It counts from the start, or from the
newest of some landmark, such as a restart. So a script with fewer actions still has the others at
their places, and the same script gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from channelsim.channel.adversaries.registry import get
from channelsim.channel.attack import boundaries
from channelsim.channel.attack.kinds import (
    BLOCK_TIME,
    GROUPS,
    KINDS,
    LANDMARKS,
    MOST_PAUSE,
    OLD_COPY,
    RUSH,
    START,
)
from channelsim.channel.errors import UsageError
from channelsim.channel.network.link import FIRST_PAUSE, LONGEST_PAUSE
from channelsim.channel.session.setup import check_game
from channelsim.channel.simulation.bounds import MOST_HANDS
from channelsim.channel.simulation.terms import Proposals, Terms
from channelsim.games.amounts import counted
from channelsim.games.names import nearest, quoted

FORMAT = "channelsim attack 1"


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One action: at number `at` of its kind's counter, of this side's where sides have their own.

    It counts from the newest landmark of the name `since`. `amount` and `name` depend on the kind.
    It lasts for `pause` seconds, and until the chain has so many more `blocks`.
    """

    kind: str
    side: Annotated[int, Meta(ge=0, le=1)]
    at: Annotated[int, Meta(ge=0, le=1_000_000)]
    amount: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    pause: Annotated[int, Meta(ge=0, le=MOST_PAUSE)] = 0
    name: str = ""
    since: str = START
    blocks: Annotated[int, Meta(ge=0, le=boundaries.LONGEST)] = 0

    @property
    def text(self) -> str:
        """The action as a phrase.

        >>> Action("crash", 1, 7, amount=2, pause=30).text
        'crash of side 1 at event 7, amount 2, 30 s'
        >>> Action("reset", 0, 0, since="chain", blocks=13).text
        'reset of side 0 at message 0 since chain, 13 blocks'
        """
        kind = KINDS[self.kind]
        amount = f", amount {self.amount}" if kind.most else ""
        pause = f", {self.pause} s" if self.pause else ""
        blocks = f", {counted(self.blocks, 'block')}" if self.blocks else ""
        place = f"{kind.counter} {self.at}{f' since {self.since}' if self.since else ''}"
        name = f" ({self.name})" if self.name else ""
        return f"{self.kind}{name} of side {self.side} at {place}{amount}{pause}{blocks}"

    @property
    def lasts(self) -> float:
        """The blocks that go by with it, on average."""
        kind, blocks = KINDS.get(self.kind), self.blocks
        if self.kind == RUSH:
            blocks += self.amount
        return blocks + (self.pause + (kind.least if kind is not None else 0)) / BLOCK_TIME


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A moment of a session as a side's actions count it: the numbers that are due next, by
    counter, since this landmark."""

    side: int
    since: str
    numbers: dict[str, int]

    def action(self, action: Action, later: int = 0) -> Action:
        """An action as it would take place then, or so much later on its counter.

        >>> Place(1, "link", {"message": 4}).action(Action("drop", 0, 9), 1).text
        'drop of side 1 at message 5 since link'
        """
        kind = KINDS[action.kind]
        if kind.counts_from_start:
            return msgspec.structs.replace(action, side=self.side)
        at = max(0, self.numbers.get(kind.counter, 0) + later)
        return msgspec.structs.replace(action, side=self.side, since=self.since, at=at)


class Attack(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag=FORMAT
):
    """A script of a session under faults: all that it depends on.

    Both sides play `hands` of these games by their policies. `snapshots` is the number of events
    between two snapshots of a store. Where it is `watched`, a watcher of its own looks after the
    channel of a side whose process does not run. Where it is `tight`, each side puts in no more
    than one hand takes. Where it is `mixed`, about one block in three carries transactions, and
    all times are longer. Each side asks so many `nodes` in the JSON of their RPC, of which one
    fails at times if there are several. The `terms` are about proposals, stakes, fees and limits.
    """

    games: tuple[str, ...]
    seed: str
    actions: tuple[Action, ...] = ()
    hands: Annotated[int, Meta(ge=1, le=MOST_HANDS)] = 2
    policies: tuple[str, str] = ("", "")
    snapshots: Annotated[int, Meta(ge=1, le=1000)] = 50
    watched: bool = False
    tight: bool = False
    mixed: bool = False
    nodes: Annotated[int, Meta(ge=0, le=2)] = 0
    terms: Terms = Terms()

    @property
    def text(self) -> str:
        """The games and the actions as a phrase."""
        actions = ", then ".join(action.text for action in self.actions) or "no fault"
        return f"{', '.join(self.games)}, {actions}"


def check(attack: Attack) -> Attack:
    """Check that a script is possible, and return it. Raises `UsageError`."""
    if not attack.games:
        raise UsageError("no game is named: try `channelsim games`")
    for name in attack.games:
        check_game(name, attack.terms.unit, attack.terms.stack)
    terms = attack.terms
    together = len(attack.games) if terms.proposals is Proposals.TOGETHER else 1
    stake = terms.unit * terms.stack * together
    if terms.balance and terms.balance < stake:
        balance = counted(terms.balance, "mojo")
        raise UsageError(f"a balance of {balance} does not cover one stake of {stake:,}")
    for action in attack.actions:
        kind = KINDS.get(action.kind)
        if kind is None:
            near = nearest(action.kind, KINDS)
            raise UsageError(f"no action is called {quoted(action.kind)}{near}")
        if action.amount > kind.most:
            raise UsageError(f"{action.kind}: an amount of at most {kind.most:,}")
        if action.pause and not kind.pauses:
            raise UsageError(f"{action.kind}: it has no pause")
        if kind.is_named:
            get(action.name)
        elif action.name:
            raise UsageError(f"{action.kind}: it has no name")
        if action.blocks and not kind.is_absence:
            raise UsageError(f"{action.kind}: it lasts for no blocks")
        if action.since and kind.counts_from_start:
            raise UsageError(f"{action.kind}: it counts from the start")
        if action.since and action.since not in LANDMARKS:
            near = nearest(action.since, LANDMARKS)
            raise UsageError(f"no landmark is called {quoted(action.since)}{near}")
    return attack


def hostile_side(actions: Sequence[Action]) -> int | None:
    """The hostile side of a script: that of its first hostile action; None if both are honest.

    What its actions say about the other side's honesty, or about restarts of this one, never takes
    place.
    """
    return next((action.side for action in actions if KINDS[action.kind].is_hostile), None)


def possible(actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions that can take place: one side is hostile at most, and that does not restart.

    Old copies are of one side at most: what both forget, nobody can claim.
    """
    hostile = hostile_side(actions)
    restored = next((action.side for action in actions if action.kind == OLD_COPY), None)
    actions = [action for action in actions if action.kind != OLD_COPY or action.side == restored]
    if hostile is None:
        return tuple(actions)
    return tuple(
        action
        for action in actions
        if not (KINDS[action.kind].is_hostile and action.side != hostile)
        and not (KINDS[action.kind].restarts and action.side == hostile)
    )


LAST_PATIENT = 10
"""Blocks of absence, all together on average, with which no side gives the other up."""

LAST_SAFE = 11
"""Blocks of absence, likewise, after which a side still acts before the deadlines of a dispute: a
move that reveals something waits for the depth of what is final first."""


RESTART = 0.5
"""Blocks in which a process starts again and connects, at most on average, if it does so often."""


def absence(done: Sequence[Action]) -> float:
    """The blocks that the actions among those done took, on average."""
    return sum(action.lasts for action in done)


def reconnecting(losses: int) -> float:
    """The blocks on average that a side waits to connect again, if it loses so many in a row.

    >>> [round(reconnecting(losses), 1) for losses in (1, 4, 8)]
    [0.0, 0.2, 3.1]
    """
    pauses = (min(FIRST_PAUSE * 2**number, LONGEST_PAUSE) for number in range(losses))
    return float(sum(pauses)) / BLOCK_TIME


def causes(done: Sequence[Action]) -> tuple[Action, ...]:
    """The actions among those done that may bring two honest sides on chain."""
    restarts = sum(KINDS[action.kind].restarts for action in done)
    losses = sum(action.kind in GROUPS["connection"] for action in done)
    away = absence(done) + RESTART * restarts + reconnecting(losses)
    is_late = away > LAST_PATIENT
    return tuple(
        action for action in done if KINDS[action.kind].is_cause or (is_late and action.lasts)
    )
