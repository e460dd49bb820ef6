"""What can go wrong in an attacked session, and what its players may want, as data.

Each action waits for its number on one of five counters: of a side's messages, events, calls of its
node and statements of its store, or of the chain's blocks. It counts from the start, or from the
newest of some landmark, such as a restart. So a script with fewer actions still has the others at
their places, and the same script gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from channelsim.channel.adversaries.registry import get
from channelsim.channel.attack import boundaries
from channelsim.channel.errors import UsageError
from channelsim.channel.session.setup import check_game
from channelsim.games.amounts import counted
from channelsim.games.names import nearest, nearest_or_all, quoted

FORMAT = "channelsim attack 1"

MESSAGE, EVENT, CALL, STATEMENT, BLOCK = "message", "event", "call", "statement", "block"
FILE = "file"
"""The counters: a side's messages, its peer's events, its node's calls, its store's statements, the
blocks of the chain, and what is added to its watcher's file. Each begins at 0."""

STEP = "step"
"""The counter of a hostile side: messages that its own peer makes, but for repeats."""

OF_A_SIDE = (MESSAGE, EVENT, CALL, STATEMENT, FILE)
"""The counters of which each side has its own."""

BLOCK_TIME = 20
"""Seconds between two blocks, on average."""

MOST_PAUSE = 9 * BLOCK_TIME
"""The most seconds of all pauses of a session: both sides wait 13 blocks for an answer."""

MOST_OUTAGE = 4
"""The most blocks of all absences beside a hostile side: what it publishes has to be answered in 15
blocks, of which reorganisations and rushes take some, too."""

OLD_COPY = "old-copy"
"""The kind of restarts from older files."""

GO_ON_CHAIN = "go-on-chain"

START = ""
"""The landmark of actions that count from the start of the session."""

LANDMARKS: Mapping[str, tuple[str, int]] = {
    "link": ("it uses a new connection", 30),
    "restart": ("its process starts again", 30),
    "shutdown": ("its half of the shutdown is out, or the other's here", 20),
    "chain": ("it goes on chain, or sees the other side do so", 30),
    "unroll": ("it sees the unroll coin", 30),
    "counts": ("it sees which state is paid out", 30),
    "move": ("it sees a move on chain", 20),
    "paid": ("it sees that a game coin is paid out", 10),
    "reorganise": ("the last blocks are replaced", 20),
}
"""What an action may count from, the newest of its side, or for blocks of both sides: when that is,
and up to which number actions are drawn."""

ON_CHAIN = ("chain", "unroll", "counts", "move", "paid")
"""The landmarks of channels that are not shut down."""

LOST = 0
"""The `amount` of a crash before its event is stored; with more, one less effect is carried out."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of action: its counter, and how much of that an ordinary session has.

    `most` is the largest `amount`, `pauses` says if it takes time, `is_absence` if that time may
    last for a number of blocks, and `is_cause` if it may bring two honest sides on chain.
    `is_hostile`: its side breaks rules; `is_named`: by the adversary of its `name`; `restarts`: its
    side comes back, which no hostile side does. `about` completes "the session in which ...".
    """

    name: str
    counter: str
    span: int
    about: str
    most: int = 0
    pauses: bool = False
    is_cause: bool = False
    is_absence: bool = False
    is_hostile: bool = False
    is_named: bool = False
    restarts: bool = False

    @property
    def counts_from_start(self) -> bool:
        """True if its actions have no landmark: their number is that of the whole session."""
        return self.counter == STEP or self.name == OLD_COPY


def _deviation(name: str, about: str, *, is_named: bool = False) -> Kind:
    """A kind of deviation of a hostile side; `amount` is the seed of what it picks."""
    return Kind(name, STEP, 24, about, 999, is_cause=True, is_hostile=True, is_named=is_named)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("drop", MESSAGE, 24, "a message is lost, and the connection stays", is_cause=True),
        Kind("duplicate", MESSAGE, 24, "a message arrives twice"),
        Kind("reorder", MESSAGE, 24, "a message arrives after the next one", is_cause=True),
        Kind("corrupt", MESSAGE, 24, "a bit of a message is changed", 1 << 16, is_cause=True),
        Kind("truncate", MESSAGE, 24, "a message ends early", 1 << 16, is_cause=True),
        Kind("delay", MESSAGE, 24, "a message and those after it take longer", pauses=True),
        Kind(
            "reset",
            MESSAGE,
            24,
            "the connection is lost with a message",
            pauses=True,
            is_absence=True,
        ),
        Kind(
            "silence",
            MESSAGE,
            24,
            "nothing arrives any more on a connection",
            1,
            pauses=True,
            is_absence=True,
        ),
        Kind(
            "node-away",
            CALL,
            400,
            "the node cannot be asked for a while",
            pauses=True,
            is_absence=True,
        ),
        Kind("node-slow", CALL, 400, "an answer of the node takes long", pauses=True),
        Kind("block-meanwhile", CALL, 400, "a block comes between two calls of the node"),
        Kind("push-unanswered", CALL, 400, "the next push gets no answer", 1),
        Kind("push-held", CALL, 400, "the node takes the next push some blocks later", 3),
        Kind("store-full", STATEMENT, 120, "the disk is full", restarts=True),
        Kind("store-fails", STATEMENT, 120, "a write fails", restarts=True),
        Kind(
            *("sync-fails", STATEMENT, 120, "a write is reported as failed, but was done"),
            restarts=True,
        ),
        Kind("watch-fails", FILE, 20, "nothing can be added to the watcher's file", restarts=True),
        Kind(
            "watch-torn", FILE, 20, "half of a line is added to the watcher's file", restarts=True
        ),
        Kind(
            *("power-loss", EVENT, 90, "a machine loses its power, and what was not synchronised"),
            *(9, True),
            is_absence=True,
            restarts=True,
        ),
        Kind(
            *("crash", EVENT, 90, "a process is killed between two effects", 6),
            pauses=True,
            is_absence=True,
            restarts=True,
        ),
        Kind(
            *(OLD_COPY, EVENT, 90, "a process goes on from an older copy of its files", 30),
            pauses=True,
            is_cause=True,
            restarts=True,
        ),
        Kind(
            *("stop", EVENT, 90, "a process is stopped and started again"),
            pauses=True,
            is_absence=True,
            restarts=True,
        ),
        Kind("reorganise", BLOCK, 40, "the last blocks are replaced", 6),
        Kind("fill", BLOCK, 40, "others fill blocks at a price", 11),
        Kind("rush", BLOCK, 40, "several blocks come at once", 4),
        Kind("think", EVENT, 90, "a player takes its time for the next decision", pauses=True),
        Kind("close", EVENT, 90, "a player asks for the shutdown"),
        Kind("go-on-chain", EVENT, 90, "a player goes on chain", is_cause=True),
        Kind(
            "run-close",
            EVENT,
            90,
            "a process is stopped, and `close` run in its place",
            pauses=True,
            restarts=True,
        ),
        Kind(
            "run-recover",
            EVENT,
            90,
            "a process is stopped, and `recover` run",
            pauses=True,
            is_cause=True,
            restarts=True,
        ),
        Kind("cancel", EVENT, 90, "a player withdraws its proposals, or refuses the other's"),
        Kind("propose", EVENT, 90, "a player proposes another game"),
        Kind("prepare", EVENT, 90, "a player has another deck prepared"),
        _deviation("deviate", "a side does what an adversary does", is_named=True),
        _deviation("alter", "a side changes a field of a message, and signs it"),
        _deviation("say", "a side sends messages that would be right elsewhere"),
        _deviation("withhold", "a side leaves its spends to the other one"),
        Kind("spend", BLOCK, 60, "a side spends what its signatures allow", 999, False, True, True),
    )
}
"""All kinds of actions, by name."""


GROUPS: Mapping[str, tuple[str, ...]] = {
    "messages": ("drop", "duplicate", "reorder", "corrupt", "truncate", "delay"),
    "connection": ("reset", "silence"),
    "node": ("node-away", "node-slow", "block-meanwhile", "push-unanswered", "push-held"),
    "disk": ("store-full", "store-fails", "sync-fails", "watch-fails", "watch-torn"),
    "process": ("crash", "power-loss", "stop", OLD_COPY),
    "chain": ("reorganise", "rush", "fill"),
    "player": (
        "think",
        "close",
        "go-on-chain",
        "cancel",
        "propose",
        "prepare",
        "run-close",
        "run-recover",
    ),
    "hostile": ("deviate", "alter", "say", "withhold", "spend"),
}
"""Groups of kinds by name; each kind is in one."""


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds in a list of kinds and groups with commas, in their order. Raises `UsageError`.

    >>> kinds_of("chain, crash")
    ('crash', 'reorganise', 'fill', 'rush')
    """
    chosen: set[str] = set()
    for name in (part.strip() for part in text.split(",")):
        if name not in KINDS and name not in GROUPS:
            hint = nearest_or_all(name, [*GROUPS, *KINDS])
            raise UsageError(f"no kind of fault, and no group, is called {quoted(name)}{hint}")
        chosen.update(GROUPS.get(name, (name,)))
    return tuple(kind for kind in KINDS if kind in chosen)


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
        """The blocks that it takes, on average."""
        return self.blocks + self.pause / BLOCK_TIME


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
    than one hand takes.
    """

    games: tuple[str, ...]
    seed: str
    actions: tuple[Action, ...] = ()
    hands: Annotated[int, Meta(ge=1, le=20)] = 2
    policies: tuple[str, str] = ("", "")
    snapshots: Annotated[int, Meta(ge=1, le=1000)] = 50
    watched: bool = False
    tight: bool = False


def check(attack: Attack) -> Attack:
    """Check that a script is possible, and return it. Raises `UsageError`."""
    if not attack.games:
        raise UsageError("no game is named: try `channelsim games`")
    for name in attack.games:
        check_game(name, 100, 10)
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

LAST_SAFE = 13
"""Blocks of absence, likewise, after which a side still acts before the deadlines of a dispute."""


def absence(done: Sequence[Action]) -> float:
    """The blocks that the actions among those done took, on average."""
    return sum(action.lasts for action in done)


def causes(done: Sequence[Action]) -> tuple[Action, ...]:
    """The actions among those done that may bring two honest sides on chain."""
    is_late = absence(done) > LAST_PATIENT
    return tuple(
        action for action in done if KINDS[action.kind].is_cause or (is_late and action.lasts)
    )
