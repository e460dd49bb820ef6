"""Decks in the toy group, with all secrets from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from channelsim.games.chance import Chance
from channelsim.games.deck import initiator, receiver
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.secrets import DeckSecrets, draw_secrets
from channelsim.games.deck.terms import DeckTerms
from tests.games.deck.toy_group import ToyGroup

TOY = ToyGroup()
TERMS = DeckTerms(bytes(32), 1, 9, 8)


def secrets(seed: str, terms: DeckTerms = TERMS) -> DeckSecrets:
    chance = Chance(seed.encode())
    return draw_secrets(TOY, terms, lambda size: bytes(chance.below(256) for _ in range(size)))


@dataclass
class Conversation:
    """A preparation up to any step: the sides' states before each message, and the messages."""

    terms: DeckTerms = TERMS
    initiator_secrets: DeckSecrets = field(default_factory=lambda: secrets("initiator"))
    receiver_secrets: DeckSecrets = field(default_factory=lambda: secrets("receiver"))

    def __post_init__(self) -> None:
        group, terms = TOY, self.terms
        self.started, one = receiver.start(group, terms, self.receiver_secrets)
        self.shuffled, two = initiator.answer(group, terms, self.initiator_secrets, one)
        self.both_shuffled, three = self.started.receive(two)
        self.locked, four = self.shuffled.receive(three)
        self.receivers, five = self.both_shuffled.receive(four)
        self.initiators = self.locked.receive(five)
        self.messages = (b"", one, two, three, four, five)

    def give(self, step: int, message: bytes) -> object:
        """Give a message of this step to its honest receiver."""
        if step == 1:
            return initiator.answer(TOY, self.terms, self.initiator_secrets, message)
        receivers: dict[int, Callable[[bytes], object]] = {
            2: self.started.receive,
            3: self.shuffled.receive,
            4: self.both_shuffled.receive,
            5: self.locked.receive,
        }
        return receivers[step](message)


@cache
def conversation() -> Conversation:
    """One honest conversation."""
    return Conversation()


def decks() -> tuple[FinishedDeck, FinishedDeck]:
    """The deck as the initiator and as the receiver have it."""
    return conversation().initiators, conversation().receivers
