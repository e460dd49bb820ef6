"""A step of a preparation as work to do elsewhere: it takes about 0.6 s, and needs only its value.

A peer never waits for it. The work is done in a thread or another process, and the result comes
back as a value too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from channelsim.games.deck import preparation
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.fields import message_size
from channelsim.games.deck.group import Group
from channelsim.games.deck.preparation import Preparation
from channelsim.games.deck.secrets import Random, draw_secrets
from channelsim.games.deck.terms import DeckTerms

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
                after, answer = preparation.start(work.group, work.terms, secrets)
            else:
                after, answer = preparation.join(work.group, work.terms, secrets, work.message)
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
