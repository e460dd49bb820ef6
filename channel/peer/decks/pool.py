"""The decks of one channel that no game has named yet: in preparation, or ready.

A state machine without I/O, clock or randomness: messages, results of computed steps and heights go
in, effects come out. Numbers rise and are never used again, each step is taken once, and a fault
burns the deck and nothing else (PD-8 to PD-12, PD-17).

Source: spec/deck.md, "Decks of a channel".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.channel.peer.interface import (
    ComputeDeck,
    DeckBurnt,
    DeckReady,
    DecksUsedUp,
    Effect,
    Ignored,
    Send,
    Tell,
)
from channelsim.channel.protocol.messages import LAST_DECK, DeckAbort, DeckStep, encode
from channelsim.channel.protocol.state import Side
from channelsim.games.amounts import counted
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.work import DeckResult, DeckWork, Preparation, longest_message

MOST_DECKS = 4
"""The most decks in preparation or ready at once (PD-17)."""

MOST_SKIPPED = 1000
"""The most that the number of a new deck is above the highest number used (PD-10)."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A step that was answered: the digest of its message, and the answer, for a repeat."""

    step: int
    digest: bytes
    answer: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class OpenDeck:
    """A deck that no game has named, as one side has it.

    `preparation` is None until our first step is computed, and `deck` until the deck is ready.
    `computing` is the step that is being computed, and the digest of its message. Otherwise we have
    waited for the other side since the height `since`. `answered` are our answers so far.
    """

    preparation: Preparation | None = field(default=None, repr=False)
    deck: FinishedDeck | None = None
    computing: tuple[int, bytes] | None = None
    since: int = 0
    answered: tuple[Answered, ...] = ()


@dataclass(frozen=True, slots=True)
class DeckPool:
    """The decks of one side of a channel, in preparation or ready, by number.

    `highest` is the highest number ever used. `discarded` are burnt decks whose last step is still
    being computed: they count as in preparation, or a peer could make us compute without end.
    """

    side: Side
    channel_id: bytes
    settings: DeckSettings
    highest: int = 0
    decks: Mapping[int, OpenDeck] = field(default_factory=dict)
    discarded: frozenset[int] = frozenset()

    @property
    def ready(self) -> dict[int, FinishedDeck]:
        """The finished decks that a proposal may name, by number."""
        return {number: one.deck for number, one in self.decks.items() if one.deck is not None}

    @property
    def is_full(self) -> bool:
        """True if there are as many decks as there may be."""
        return len(self.decks) + len(self.discarded) >= MOST_DECKS

    @property
    def is_used_up(self) -> bool:
        """True if no number is left for another deck."""
        return self.highest >= LAST_DECK


PoolTransition = tuple[DeckPool, list[Effect]]
"""The pool after an event, and the effects of the event in order."""


def prepare(pool: DeckPool) -> PoolTransition:
    """Start a deck as the receiver, or ask for one as the initiator. Raises `UsageError`."""
    if pool.is_full:
        raise UsageError(f"no more decks: {MOST_DECKS} are in preparation or ready")
    if pool.is_used_up:
        raise UsageError("no more decks: the numbers of this channel are used up; close it")
    if pool.side is Side.INITIATOR:
        return pool, [Send(encode(DeckStep(0, 0, b"")))]
    number = pool.highest + 1
    return _compute(pool, number, OpenDeck(), 0, b"")


def receive(pool: DeckPool, message: DeckStep) -> PoolTransition:
    """Take a step of the other side."""
    number, step = message.deck_no, message.step
    if step == 0:
        return _asked(pool, message)
    one = pool.decks.get(number)
    if one is None:
        return _unknown(pool, message)
    digest = sha256(message.data).digest()
    if one.computing == (step, digest):
        return pool, [Tell(Ignored(f"a repeat of step {step} of deck {number}"))]
    for answered in one.answered:
        if (answered.step, answered.digest) == (step, digest):
            repeat = DeckStep(number, step + 1, answered.answer)
            return pool, [Send(encode(repeat))] if answered.answer else []
    if one.computing is not None or one.preparation is None or step != one.preparation.awaited:
        return burn(pool, number, "PD-11", step, f"step {step} comes once, in order")
    terms = pool.settings.terms(pool.channel_id, number)
    longest = longest_message(pool.settings.group, terms, step)
    if len(message.data) > longest:
        size = counted(len(message.data), "byte")
        return burn(pool, number, "PD-2", step, f"message {step} has {size}, at most {longest}")
    return _compute(pool, number, one, step, message.data)


def computed(pool: DeckPool, result: DeckResult, height: int) -> PoolTransition:
    """Take the result of a step: send the answer, and wait from this height for the next one."""
    number, step = result.number, result.step
    if number in pool.discarded:
        return replace(pool, discarded=pool.discarded - {number}), []
    one = pool.decks.get(number)
    if one is None or one.computing is None or one.computing[0] != step:
        return pool, []
    if result.after is None:
        return burn(
            _with(pool, number, replace(one, computing=None)),
            *(number, result.rule, step, result.reason),
        )
    deck = result.after.finished
    answered = Answered(step, one.computing[1], result.answer)
    after = OpenDeck(
        preparation=None if deck else result.after,
        deck=deck,
        since=height,
        answered=(*one.answered, answered),
    )
    effects: list[Effect] = []
    if result.answer:
        effects.append(Send(encode(DeckStep(number, step + 1, result.answer))))
    if deck is not None:
        effects.append(Tell(DeckReady(number)))
    return _with(pool, number, after), effects


def given_up(pool: DeckPool, message: DeckAbort) -> PoolTransition:
    """Drop a deck that the other side gives up, unless a game has named it."""
    if message.deck_no not in pool.decks:
        return pool, [Tell(Ignored(f"the end of deck {message.deck_no}, which is not open"))]
    reason = "the other side gave it up"
    news = DeckBurnt(message.deck_no, "", 0, reason)
    return _dropped(pool, message.deck_no), [Tell(news)]


def expire(pool: DeckPool, height: int, patience: int) -> PoolTransition:
    """Give up the decks whose next step the other side has owed for more than `patience` blocks."""
    effects: list[Effect] = []
    for number, one in sorted(pool.decks.items()):
        if one.preparation is None or one.computing is not None:
            continue
        # A reorganisation can lower the height: then we wait from there.
        since = min(one.since, height)
        if height - since > patience:
            reason = f"no step in {counted(patience, 'block')}"
            pool, more = burn(pool, number, "", one.preparation.awaited, reason)
            effects += more
        elif since != one.since:
            pool = _with(pool, number, replace(one, since=since))
    return pool, effects


def resume(pool: DeckPool, theirs: Collection[int], highest: int) -> PoolTransition:
    """Settle the decks after a new connection.

    `theirs` are the numbers of the decks that the other side has, `highest` is the highest that it
    knows to be used. Our last step is repeated: it, or the answer to it, may have been lost.
    """
    effects: list[Effect] = []
    for number, one in sorted(pool.decks.items()):
        if number not in theirs and number <= highest:
            pool = _dropped(pool, number)
            effects.append(Tell(DeckBurnt(number, "", 0, "the other side does not have it")))
        elif one.preparation is not None and one.computing is None and one.answered:
            last = one.answered[-1]
            effects.append(Send(encode(DeckStep(number, last.step + 1, last.answer))))
    return pool, effects


def burn(pool: DeckPool, number: int, rule: str, step: int, reason: str) -> PoolTransition:
    """Give up a deck, and let the other side know."""
    return _dropped(pool, number), [
        Send(encode(DeckAbort(number))),
        Tell(DeckBurnt(number, rule, step, reason)),
    ]


def change(
    pool: DeckPool, highest: int, added: Iterable[FinishedDeck], removed: Iterable[int]
) -> PoolTransition:
    """Add and remove finished decks without messages."""
    effects: list[Effect] = []
    pool = replace(pool, highest=highest)
    for number in removed:
        pool = _dropped(pool, number)
        effects.append(Tell(DeckBurnt(number, "", 0, "given up, as no game names it")))
    for deck in added:
        number = deck.terms.number
        pool = _with(pool, number, OpenDeck(deck=deck))
        effects.append(Tell(DeckReady(number)))
    return pool, effects


def name(pool: DeckPool, numbers: Iterable[int]) -> DeckPool:
    """Take out decks that a proposal names: whatever becomes of it, no other one may (PD-9).

    A number above the highest used is unknown, and stays unused: else proposals that are refused
    could use up all numbers.
    """
    for number in pool.decks.keys() & {*numbers}:
        pool = _dropped(pool, number)
    return pool


def reason_against(pool: DeckPool, numbers: Sequence[int]) -> str | None:
    """The reason for which a careful player cancels a proposal that names these decks, or None."""
    for number in numbers:
        if numbers.count(number) > 1:
            return f"PD-9: deck {number} is named twice"
        if number > pool.highest:
            return f"PD-9: deck {number} is unknown"
        # A restart has to give the same reason, and forgets what is in preparation.
        if number not in pool.ready:
            return f"PD-10: deck {number} is not ready, or has been used"
    return None


# --- parts -------------------------------------------------------------------------------------


def _asked(pool: DeckPool, message: DeckStep) -> PoolTransition:
    """Start a deck that the initiator asks for, if there is room."""
    if pool.side is not Side.RECEIVER or message.deck_no or message.data:
        return pool, [Tell(Ignored("a request for a deck that is malformed"))]
    if pool.is_full:
        return pool, [Tell(Ignored("a request for more decks than there may be"))]
    if pool.is_used_up:
        return pool, [Tell(Ignored("a request for a deck, and all numbers are used up"))]
    return prepare(pool)


def _unknown(pool: DeckPool, message: DeckStep) -> PoolTransition:
    """Take a step of a deck that is not open: the first one may open it."""
    number, step = message.deck_no, message.step
    if step != 1 or pool.side is not Side.INITIATOR:
        # It was burnt here, and the other side may not know.
        return pool, [
            Send(encode(DeckAbort(number))),
            Tell(Ignored(f"step {step} of deck {number}, which is not in preparation")),
        ]
    if number <= pool.highest:
        return burn(pool, number, "PD-10", step, f"numbers rise: {pool.highest} has been used")
    if number > pool.highest + MOST_SKIPPED:
        reason = f"PD-10: step 1 of deck {number}: at most {pool.highest + MOST_SKIPPED}"
        return pool, [Send(encode(DeckAbort(number))), Tell(Ignored(reason))]
    if pool.is_full:
        pool, effects = _use(pool, number)
        reason = f"at most {MOST_DECKS} decks are in preparation or ready"
        pool, more = burn(pool, number, "PD-17", step, reason)
        return pool, [*effects, *more]
    return _compute(pool, number, OpenDeck(), step, message.data)


def _compute(
    pool: DeckPool, number: int, one: OpenDeck, step: int, message: bytes
) -> PoolTransition:
    """Have a step computed; a new deck uses up its number first."""
    effects: list[Effect] = []
    if one.preparation is None:
        pool, effects = _use(pool, number)
    terms = pool.settings.terms(pool.channel_id, number)
    work = DeckWork(pool.settings.group, terms, step, message, one.preparation)
    one = replace(one, computing=(step, sha256(message).digest()))
    return _with(pool, number, one), [*effects, ComputeDeck(work)]


def _use(pool: DeckPool, number: int) -> PoolTransition:
    """Use up a number, with those below it."""
    pool = replace(pool, highest=number)
    news: list[Effect] = [Tell(DecksUsedUp())] if pool.is_used_up else []
    return pool, news


def _with(pool: DeckPool, number: int, one: OpenDeck) -> DeckPool:
    return replace(pool, decks={**pool.decks, number: one})


def _dropped(pool: DeckPool, number: int) -> DeckPool:
    """The pool without a deck; its secrets go with it."""
    one = pool.decks.get(number)
    left = {other: deck for other, deck in pool.decks.items() if other != number}
    waits = one is not None and one.computing is not None
    discarded = pool.discarded | {number} if waits else pool.discarded
    return replace(pool, decks=left, discarded=discarded)
