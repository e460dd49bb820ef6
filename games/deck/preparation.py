"""One side of a deck in the making: each step once, in order, and the same answer to a repeat.

Soundness rests on this (PD-11, PD-12). A prover that answered two challenges to one set of hashes
would give its mask and permutation away, and a verifier that took a second set of hashes after its
challenge was known would accept a marked pack.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from channelsim.games.deck import initiator, receiver
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import Group
from channelsim.games.deck.secrets import DeckSecrets
from channelsim.games.deck.terms import DeckTerms

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
