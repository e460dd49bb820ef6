"""What can go wrong in an attacked session, and what its players may want, as data.

Each action waits for its number on one of five counters: of a side's messages, events, calls of its
node and statements of its store, or of the chain's blocks. So a script with fewer actions still has
the others at their places, and the same script gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.session.setup import check_game
from channelsim.games.chance import Chance
from channelsim.games.names import nearest, quoted

FORMAT = "channelsim attack 1"

MESSAGE, EVENT, CALL, STATEMENT, BLOCK = "message", "event", "call", "statement", "block"
"""The counters: a side's messages, its peer's events, its node's calls, its store's statements, and
the blocks of the chain. Each begins at 0."""

BLOCK_TIME = 20
"""Seconds between two blocks, on average."""

MOST_PAUSE = 9 * BLOCK_TIME
"""The most seconds of all pauses of a session: both sides wait 13 blocks for an answer."""

LOST = 0
"""The `amount` of a crash before its event is stored; with more, one less effect is carried out."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of action: its counter, and how much of that an ordinary session has.

    `most` is the largest `amount`, `pauses` says if it takes time, and `is_cause` if it may bring
    two honest sides on chain. `about` completes "the session in which ...".
    """

    name: str
    counter: str
    span: int
    about: str
    most: int = 0
    pauses: bool = False
    is_cause: bool = False


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("drop", MESSAGE, 24, "a message is lost, and the connection stays", is_cause=True),
        Kind("duplicate", MESSAGE, 24, "a message arrives twice"),
        Kind("reorder", MESSAGE, 24, "a message arrives after the next one", is_cause=True),
        Kind("corrupt", MESSAGE, 24, "a bit of a message is changed", 1 << 16, is_cause=True),
        Kind("truncate", MESSAGE, 24, "a message ends early", 1 << 16, is_cause=True),
        Kind("delay", MESSAGE, 24, "a message and those after it take longer", pauses=True),
        Kind("reset", MESSAGE, 24, "the connection is lost with a message", pauses=True),
        Kind("silence", MESSAGE, 24, "nothing arrives any more on a connection", 1, pauses=True),
        Kind("node-away", CALL, 400, "the node cannot be asked for a while", pauses=True),
        Kind("node-slow", CALL, 400, "an answer of the node takes long", pauses=True),
        Kind("block-meanwhile", CALL, 400, "a block comes between two calls of the node"),
        Kind("push-unanswered", CALL, 400, "the next push gets no answer", 1),
        Kind("push-held", CALL, 400, "the node takes the next push some blocks later", 3),
        Kind("store-full", STATEMENT, 120, "the disk is full"),
        Kind("store-fails", STATEMENT, 120, "a write fails"),
        Kind("sync-fails", STATEMENT, 120, "a write is reported as failed, but was done"),
        Kind("crash", EVENT, 90, "a process is killed between two effects", 6, pauses=True),
        Kind("stop", EVENT, 90, "a process is stopped and started again", pauses=True),
        Kind("reorganise", BLOCK, 40, "the last blocks are replaced", 6),
        Kind("rush", BLOCK, 40, "several blocks come at once", 4),
        Kind("think", EVENT, 90, "a player takes its time for the next decision", pauses=True),
        Kind("close", EVENT, 90, "a player asks for the shutdown"),
        Kind("go-on-chain", EVENT, 90, "a player goes on chain", is_cause=True),
        Kind("cancel", EVENT, 90, "a player withdraws its proposals, or refuses the other's"),
        Kind("propose", EVENT, 90, "a player proposes another game"),
    )
}
"""All kinds of actions, by name."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One action: at number `at` of its kind's counter, of this side's where sides have their own.

    `amount` depends on the kind, and `pause` is in seconds.
    """

    kind: str
    side: Annotated[int, Meta(ge=0, le=1)]
    at: Annotated[int, Meta(ge=0, le=1_000_000)]
    amount: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    pause: Annotated[int, Meta(ge=0, le=MOST_PAUSE)] = 0

    @property
    def text(self) -> str:
        """The action as a phrase.

        >>> Action("crash", 1, 7, amount=2, pause=30).text
        'crash of side 1 at event 7, amount 2, 30 s'
        """
        kind = KINDS[self.kind]
        amount = f", amount {self.amount}" if kind.most else ""
        pause = f", {self.pause} s" if self.pause else ""
        return f"{self.kind} of side {self.side} at {kind.counter} {self.at}{amount}{pause}"


class Attack(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="format", tag=FORMAT
):
    """A script of a session under faults: all that it depends on.

    Both sides play `hands` of these games by their policies. `snapshots` is the number of events
    between two snapshots of a store. Where it is `watched`, a watcher of its own looks after the
    channel of a side whose process does not run.
    """

    games: tuple[str, ...]
    seed: str
    actions: tuple[Action, ...] = ()
    hands: Annotated[int, Meta(ge=1, le=20)] = 2
    policies: tuple[str, str] = ("", "")
    snapshots: Annotated[int, Meta(ge=1, le=1000)] = 50
    watched: bool = False


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
    return attack


ACTIONS, SWARM = 8, 6
"""The most actions of a session, and the most kinds of which they are."""


def draw(games: Sequence[str], seed: str, kinds: Sequence[str] = tuple(KINDS)) -> Attack:
    """Draw a script from a seed. Each has a few kinds of actions only, so that each can go deep."""
    chance = Chance(derive(seed.encode(), "attack"))
    swarm = chance.draw(kinds, min(len(kinds), chance.between(1, SWARM)))
    actions: list[Action] = []
    left = MOST_PAUSE
    for _ in range(chance.between(1, ACTIONS)):
        action = _drawn(KINDS[chance.pick(swarm)], chance, left)
        left -= action.pause
        actions.append(action)
        if action.kind in ("crash", "stop") and chance.chance(30):
            # The same again, right after the restart.
            actions.append(
                msgspec.structs.replace(action, at=action.at + chance.between(1, 4), pause=0)
            )
    game = chance.pick(games)
    return Attack(
        games=(game,),
        seed=seed,
        actions=tuple(actions),
        hands=chance.between(1, 2),
        snapshots=chance.pick((3, 7, 50)),
        watched=chance.chance(30),
    )


def _drawn(kind: Kind, chance: Chance, left: int) -> Action:
    """Draw an action whose pause is at most so many seconds."""
    pause = 0
    if kind.pauses:
        pause = min(left, chance.below(chance.pick((5, BLOCK_TIME, 4 * BLOCK_TIME))))
    return Action(
        kind=kind.name,
        side=chance.below(2),
        at=chance.below(kind.span),
        amount=chance.below(kind.most + 1),
        pause=pause,
    )


def causes(attack: Attack, done: Sequence[Action]) -> tuple[Action, ...]:
    """The actions among those done that may bring two honest sides on chain."""
    return tuple(action for action in done if KINDS[action.kind].is_cause)
