"""The kinds of actions of attacked sessions, in groups: their counters, landmarks and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from channelsim.channel.chain.refusals import (
    FEE_TOO_CLOSE_TO_ZERO,
    FEE_TOO_LOW,
    INVALID_BUNDLE,
    SYNCING,
    UNKNOWN_UNSPENT,
)
from channelsim.channel.errors import UsageError
from channelsim.channel.network.connection import DEFAULT
from channelsim.games.names import nearest, quoted

MESSAGE, EVENT, CALL, STATEMENT, BLOCK = "message", "event", "call", "statement", "block"
FILE = "file"
"""The counters: a side's messages, its peer's events, its node's calls, its store's statements, the
blocks of the chain, and what is added to its watcher's file. Each begins at 0."""

DEADLINE = "deadline"
"""The counter of blocks at whose height something ends or begins for a peer."""

STEP = "step"
"""The counter of a hostile side: messages that its own peer makes, but for repeats."""

OF_A_SIDE = (MESSAGE, EVENT, CALL, STATEMENT, FILE)
"""The counters of which each side has its own."""

OF_BOTH = (BLOCK, DEADLINE)
"""The counters that both sides share."""

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

RUSH = "rush"

LIMIT_FEES = "limit-fees"

SOLUTIONS = "solutions-hidden"
"""The kind of failures of a node that names the children of a spend alone."""

OWN_FAULT = "own-fault"
"""The kind of failures of a side's own program."""

PLANNED = "a fault of the script"
"""The reason of a side that fails as its script says."""

UNDO_FUNDING = "undo-funding"
"""The kind of reorganisations that are deeper than both sides wait for."""

PINNED = "push-pinned"
"""The kind of pushes that other nodes of a side have in pins."""

REFUSALS = (FEE_TOO_LOW, FEE_TOO_CLOSE_TO_ZERO, UNKNOWN_UNSPENT, INVALID_BUNDLE, SYNCING)
"""The errors with which a node refuses a push: its mempool is full, it lacks a coin that the push
spends, it could not validate the push in time, or it is not ready."""

START = ""
"""The landmark of actions that count from the start of the session."""

LANDMARKS: Mapping[str, tuple[str, int]] = {
    "link": ("it uses a new connection", 30),
    "restart": ("its process starts again", 30),
    "signed": ("all of its opening is signed", 20),
    "open": ("play begins for it", 10),
    "acted": ("it has made a move, and waits for the other side's", 10),
    "folds": ("its player folds", 10),
    "settled": ("it settles a game in its own batch", 10),
    "shutdown": ("its half of the shutdown is out, or the other's here", 20),
    "chain": ("it goes on chain, or sees the other side do so", 30),
    "unpins": ("it replaces a pin of its spend", 6),
    "unroll": ("it sees the unroll coin", 30),
    "counts": ("it sees which state is paid out", 30),
    "move": ("it sees a move on chain", 20),
    "paid": ("it sees that a game coin is paid out", 10),
    "reorganise": ("the last blocks are replaced", 20),
}
"""Moments that actions may count from, the newest of a side, or for blocks of both: when that is,
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
    side comes back, which no hostile side does. It takes `least` seconds in any case. `about`
    completes "the session in which ...".
    """

    name: str
    counter: str
    span: int
    about: str
    most: int = 0
    _: KW_ONLY
    pauses: bool = False
    is_cause: bool = False
    is_absence: bool = False
    is_hostile: bool = False
    is_named: bool = False
    restarts: bool = False
    least: float = 0

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
            least=DEFAULT.idle,
        ),
        Kind(
            "node-away",
            CALL,
            400,
            "the node cannot be asked for a while",
            pauses=True,
            is_absence=True,
        ),
        Kind(
            *("node-behind", CALL, 400, "the node shows the chain as it was up to 3 blocks ago", 2),
            pauses=True,
            is_absence=True,
            least=BLOCK_TIME,
        ),
        Kind("node-slow", CALL, 400, "an answer of the node takes long", pauses=True),
        Kind("block-meanwhile", CALL, 400, "a block comes between two calls of the node"),
        Kind(
            "push-unanswered",
            CALL,
            400,
            "the next push gets no answer, and those of its coin get none for a while",
            1,
            is_absence=True,
        ),
        Kind("push-held", CALL, 400, "the node takes the next push some blocks later", 3),
        Kind(
            "push-refused",
            CALL,
            400,
            "the node refuses the next push",
            len(REFUSALS) - 1,
            is_absence=True,
        ),
        Kind(
            "push-forgotten",
            CALL,
            400,
            "the node drops the next push, and refuses the same bytes for a while",
            1,
            is_absence=True,
        ),
        Kind(
            *(PINNED, CALL, 400, "other nodes of the side have the next push in a pin", 3),
            is_absence=True,
        ),
        Kind(
            *(SOLUTIONS, CALL, 400, "the node says of no spend how it was made"),
            pauses=True,
            is_absence=True,
        ),
        Kind("store-full", STATEMENT, 120, "the disk is full", restarts=True),
        Kind("store-fails", STATEMENT, 120, "a write fails", restarts=True),
        Kind(
            *("sync-fails", STATEMENT, 120, "a write is done, but not on the disk, and fails"),
            restarts=True,
        ),
        Kind("watch-fails", FILE, 20, "nothing can be added to the watcher's file", restarts=True),
        Kind(
            "watch-torn", FILE, 20, "half of a line is added to the watcher's file", restarts=True
        ),
        Kind(
            "power-loss",
            EVENT,
            90,
            "a machine loses its power, and what was not synchronised",
            9,
            pauses=True,
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
        Kind(
            *(OWN_FAULT, EVENT, 90, "a side's own program fails at a message or a command"),
            is_cause=True,
            restarts=True,
        ),
        Kind("reorganise", BLOCK, 40, "the last blocks are replaced", 6),
        Kind(
            *(UNDO_FUNDING, BLOCK, 60, "the block of the funding is replaced, however deep", 1),
            is_cause=True,
        ),
        Kind(
            "undo-deadline",
            DEADLINE,
            12,
            "the block at a deadline is replaced, once both sides have acted on it",
            1,
        ),
        Kind("fill", BLOCK, 40, "others fill blocks at a price", 83),
        Kind(RUSH, BLOCK, 40, "several blocks come at once", 4),
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
        Kind(
            *(LIMIT_FEES, EVENT, 90, "a process is started again with other maxima of fees", 2),
            pauses=True,
            restarts=True,
        ),
        Kind("cancel", EVENT, 90, "a player withdraws its proposals, or refuses the other's"),
        Kind("propose", EVENT, 90, "a player proposes another game"),
        Kind("prepare", EVENT, 90, "a player has another deck prepared"),
        Kind("decline", EVENT, 40, "a player wants no other hand from here on"),
        _deviation("deviate", "a side does what an adversary does", is_named=True),
        _deviation("alter", "a side changes a field of a message, and signs it"),
        _deviation("say", "a side sends messages that would be right elsewhere"),
        _deviation("withhold", "a side leaves its spends to the other one"),
        Kind(
            "spend",
            BLOCK,
            60,
            "a side spends what its signatures allow",
            999,
            is_cause=True,
            is_hostile=True,
        ),
    )
}
"""All kinds of actions, by name."""


GROUPS: Mapping[str, tuple[str, ...]] = {
    "messages": ("drop", "duplicate", "reorder", "corrupt", "truncate", "delay"),
    "connection": ("reset", "silence"),
    "node": (
        *("node-away", "node-behind", "node-slow", "block-meanwhile"),
        *("push-unanswered", "push-held", "push-refused", "push-forgotten", PINNED),
        SOLUTIONS,
    ),
    "disk": ("store-full", "store-fails", "sync-fails", "watch-fails", "watch-torn"),
    "process": ("crash", "power-loss", "stop", OLD_COPY, OWN_FAULT),
    "chain": ("reorganise", "undo-deadline", UNDO_FUNDING, "rush", "fill"),
    "player": (
        "think",
        "close",
        "go-on-chain",
        "cancel",
        "propose",
        "prepare",
        "decline",
        "run-close",
        "run-recover",
        LIMIT_FEES,
    ),
    "hostile": ("deviate", "alter", "say", "withhold", "spend"),
}
"""Groups of kinds by name; each kind is in one."""

WEATHERS: Mapping[str, tuple[str, ...]] = {
    "calm": (),
    "reorgs": ("reorganise",),
    "slow": ("push-held",),
    "full": ("fill",),
    "cut-off": ("node-away",),
    "blind": (SOLUTIONS,),
    "reconnects": ("reset",),
    "deadlines": ("undo-deadline",),
    "forgetful": ("push-forgotten",),
}
"""Weathers of a dispute: presets of kinds."""


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds in a list of kinds and groups with commas, in their order. Raises `UsageError`.

    >>> kinds_of("chain, crash")
    ('crash', 'reorganise', 'undo-funding', 'undo-deadline', 'fill', 'rush')
    """
    chosen: set[str] = set()
    for name in (part.strip() for part in text.split(",")):
        if name not in KINDS and name not in GROUPS:
            near = nearest(name, [*GROUPS, *KINDS])
            hint = near or f"; the groups are {', '.join(GROUPS)}"
            raise UsageError(f"no kind of fault, and no group, is called {quoted(name)}{hint}")
        chosen.update(GROUPS.get(name, (name,)))
    return tuple(kind for kind in KINDS if kind in chosen)
