"""One side of a deck in the making, and each of its steps as work to do elsewhere.

Each step comes once, in order, with the same answer to a repeat. Soundness rests on this (PD-11,
PD-12). A prover that answered two challenges to one set of hashes would give its mask and
permutation away, and a verifier that took a second set of hashes after its challenge was known
would accept a marked pack.

A step takes about 0.6 s, and needs only its value. A peer never waits for it: the work is done in a
thread or another process, and the result comes back as a value too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from channelsim.games.deck import initiator, receiver
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.fields import message_size
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import Group
from channelsim.games.deck.secrets import DeckSecrets, Random, draw_secrets
from channelsim.games.deck.terms import DeckTerms

# --- a deck in preparation ----------------------------------------------------------------------


Stage: TypeAlias = (
    receiver.Started | receiver.Shuffled | initiator.Shuffled | initiator.Locked | FinishedDeck
)


@dataclass(frozen=True, slots=True)
class Preparation:
    """A deck in preparation, or just finished, as one side has it.

    It is never stored: a crash discards it (PD-12). `awaited` is the step that may come next, and
    `last` the step taken last, with its message and the answer.
    """

    stage: Stage
    awaited: int
    last: tuple[int, bytes, bytes] | None = field(default=None, repr=False)

    @property
    def finished(self) -> FinishedDeck | None:
        """The deck; None until this side has checked everything."""
        return self.stage if isinstance(self.stage, FinishedDeck) else None

    def receive(self, step: int, message: bytes) -> tuple[Preparation, bytes]:
        """Take a step; return what follows and the answer, which is empty after the last step.

        Raises `DeckFault`: the deck is burnt, and this side must be dropped.
        """
        if self.last is not None and self.last[:2] == (step, message):
            return self, self.last[2]
        stage: Stage
        answer = b""
        if step != self.awaited or isinstance(self.stage, FinishedDeck):
            raise DeckFault("PD-11", f"step {step} came where step {self.awaited} may come")
        if isinstance(self.stage, initiator.Locked):
            stage = self.stage.receive(message)
        else:
            stage, answer = self.stage.receive(message)
        return Preparation(stage, step + 2, (step, message, answer)), answer


def start(group: Group, terms: DeckTerms, secrets: DeckSecrets) -> tuple[Preparation, bytes]:
    """Start a deck as the receiver: message 1."""
    stage, message = receiver.start(group, terms, secrets)
    return Preparation(stage, 2), message


def join(
    group: Group, terms: DeckTerms, secrets: DeckSecrets, message: bytes
) -> tuple[Preparation, bytes]:
    """Join a deck as the initiator: the answer to message 1. Raises `DeckFault`.

    The secrets are fresh, also where message 1 is one that was answered before.
    """
    stage, answer = initiator.answer(group, terms, secrets, message)
    return Preparation(stage, 3, (1, message, answer)), answer


# --- a step as work -----------------------------------------------------------------------------


LAST_STEP = 5
"""The step that has no answer."""


@dataclass(frozen=True, slots=True)
class DeckWork:
    """Answer the message of a step; step 0 has none, and starts a deck as the receiver.

    `before` is this side's state, None for a new deck, for which fresh secrets are drawn.
    """

    group: Group = field(repr=False)
    terms: DeckTerms
    step: int
    message: bytes = field(repr=False)
    before: Preparation | None = field(repr=False)

    @property
    def is_new(self) -> bool:
        """True if this begins a deck."""
        return self.before is None

    @property
    def is_last(self) -> bool:
        """True if the initiator finishes the deck by it."""
        return self.step == LAST_STEP


@dataclass(frozen=True, slots=True)
class DeckResult:
    """What came of the work on a step of the deck with this number.

    Either `after` is this side's state and `answer` the message of the next step (empty after the
    last one), or `rule` is the id of the rule that the message breaks and `reason` says how.
    """

    number: int
    step: int
    after: Preparation | None = field(repr=False)
    answer: bytes = field(default=b"", repr=False)
    rule: str = ""
    reason: str = ""


def compute(work: DeckWork, random: Random) -> DeckResult:
    """Do the work; `random` gives the secrets of a new deck."""
    number, step = work.terms.number, work.step
    try:
        if work.before is not None:
            after, answer = work.before.receive(step, work.message)
        else:
            secrets = draw_secrets(work.group, work.terms, random)
            if step == 0:
                after, answer = start(work.group, work.terms, secrets)
            else:
                after, answer = join(work.group, work.terms, secrets, work.message)
    except DeckFault as fault:
        return DeckResult(number, step, None, b"", fault.rule, fault.reason)
    return DeckResult(number, step, after, answer)


def longest_message(group: Group, terms: DeckTerms, step: int) -> int:
    """The most bytes that a message of a step may have under these terms; 0 for no such step.

    >>> from channelsim.games.deck.group import real_group
    >>> terms = DeckTerms(bytes(32), 1, 26, 40)
    >>> [longest_message(real_group(), terms, step) for step in range(7)]
    [0, 71, 3888, 3861, 6757, 6720, 0]
    """
    return message_size(group, terms, step, b"\xff" * (terms.rounds // 8))
