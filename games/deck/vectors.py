"""Conversations of decks with all their randomness, and altered messages, one a line.

A line of the kind `deck` is a whole preparation; one of the kind `deck-message` is an altered
message of one, which has to be above it. Source: spec/vectors.md, "Decks".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from channelsim.games.deck import initiator, receiver
from channelsim.games.deck.faults import RULES, DeckFault
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import real_group
from channelsim.games.deck.secrets import DeckSecrets
from channelsim.games.deck.terms import CARDS, DeckTerms, decode_terms
from channelsim.games.decoding import line_error

MAX_MESSAGE = 1 << 16
"""Hex digits of a message: twice as many as any terms allow bytes."""

MAX_ROUNDS = 248

_HEX = re.compile("(?:[0-9a-fA-F]{2})*")
Hex = Annotated[str, Meta(max_length=MAX_MESSAGE)]
Hash = Annotated[str, Meta(max_length=64, min_length=64)]
Positions = Annotated[list[Hex], Meta(min_length=1, max_length=CARDS)]
Card = Annotated[int, Meta(ge=0, lt=CARDS)]


class BadDeckLine(ValueError):
    """A malformed line; the message names the line and the key."""


class Secrets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that one side draws; bytes and scalars in hex."""

    nonce: Hash
    bits: Hex
    salt: Hash
    mask: Hash
    permutation: Annotated[list[Card], Meta(min_length=CARDS, max_length=CARDS)]
    locks: Annotated[list[Hash], Meta(max_length=CARDS)]
    round_seeds: Annotated[list[Hash], Meta(max_length=MAX_ROUNDS)]
    lock_nonces: Annotated[list[Hash], Meta(max_length=CARDS)]


class DeckLine(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="deck"
):
    """A whole preparation: the terms, the secrets of the initiator (`a`) and the receiver (`b`),
    the five messages, and the deck that they lead to."""

    id: str
    terms: Annotated[str, Meta(min_length=78, max_length=78)]
    a: Secrets
    b: Secrets
    messages: Annotated[list[Hex], Meta(min_length=5, max_length=5)]
    deck_id: Hash
    root: Hash
    D: Positions
    K: Positions
    L: Positions
    cards: Annotated[list[Card], Meta(max_length=CARDS)]
    expect: Literal["ready"]
    tag: str = "whole"


class MessageLine(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="deck-message"
):
    """An altered message of a step, given to its receiver in the conversation `of`.

    `expect` is the rule that refuses it, or `accepted`.
    """

    id: str
    of: str
    step: Annotated[int, Meta(ge=1, le=5)]
    message: Hex
    expect: str
    tag: str


Line: TypeAlias = DeckLine | MessageLine
Receive: TypeAlias = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A preparation that was made again: messages, both decks, and the receiver of each step."""

    messages: tuple[bytes, ...]
    decks: tuple[FinishedDeck, FinishedDeck]
    receivers: Mapping[int, Receive]


class DeckVectors:
    """Checks lines in the order of a file; messages belong to conversations above them."""

    def __init__(self) -> None:
        self._conversations: dict[str, Conversation | None] = {}

    def check(self, line: Line) -> list[str]:
        """Compare a line with what we do: a line for each difference."""
        if isinstance(line, MessageLine):
            return self._check_message(line)
        self._conversations[line.id] = None
        try:
            played = _played(line)
        except DeckFault as fault:
            return [f"our sides refuse it: {fault}"]
        differences = _differences(line, played)
        if not differences:
            self._conversations[line.id] = played
        return differences

    def _check_message(self, line: MessageLine) -> list[str]:
        if line.of not in self._conversations:
            return [f"there is no conversation {line.of!r} above it"]
        conversation = self._conversations[line.of]
        if conversation is None:
            return [f"the conversation {line.of!r} failed"]
        try:
            conversation.receivers[line.step](bytes.fromhex(line.message))
        except DeckFault as fault:
            same = fault.rule == line.expect or _comes_before(fault.rule, line.expect)
            return [] if same else [f"{fault}, instead of {line.expect}"]
        return [] if line.expect == "accepted" else [f"accepted, instead of {line.expect}"]


def read(lines: Iterable[str | bytes]) -> Iterator[Line]:
    """Read lines, skipping blank ones. Raises `BadDeckLine` at the first bad one.

    >>> next(read(['{"kind": "deck-message", "id": "x"}']))
    Traceback (most recent call last):
    channelsim.games.deck.vectors.BadDeckLine: line 1: the key `of` is missing
    """
    decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadDeckLine(line_error(error, number, text, Line)) from None
        if (wrong := _wrong(line)) is not None:
            raise BadDeckLine(f"line {number}: {wrong}")
        yield line


ORDER = {"PD-2": 0, "PD-8": 1, "PD-1": 2, "PD-6": 3, "PD-3": 4, "PD-4": 4, "PD-5": 4, "PD-7": 6}
"""When a check is made. Answers are checked round by round, so three rules have the same place."""


def _comes_before(rule: str, expected: str) -> bool:
    """True if a message that breaks several rules may be refused by this one: an earlier check.

    A later one would mean that the expected check let the message pass.

    >>> _comes_before("PD-1", "PD-6"), _comes_before("PD-7", "PD-5"), _comes_before("PD-5", "PD-3")
    (True, False, True)
    """
    # PD-3 is checked once more, in the proof of the locks.
    return expected in ORDER and ORDER[rule] <= (5 if expected == "PD-3" else ORDER[expected])


def _wrong(line: Line) -> str | None:
    """What is wrong with a line of the right shape; None for a right one."""
    if isinstance(line, MessageLine):
        if line.expect != "accepted" and line.expect not in RULES:
            return "`expect` is neither `accepted` nor the rule of a check"
        return None if _HEX.fullmatch(line.message) else "`message` is not hex"
    texts = [line.terms, *line.messages, line.deck_id, line.root, *line.D, *line.K, *line.L]
    for side in (line.a, line.b):
        texts += [side.nonce, side.bits, side.salt, side.mask]
        texts += [*side.locks, *side.round_seeds, *side.lock_nonces]
    if not all(_HEX.fullmatch(text) for text in texts):
        return "a text is not hex"
    try:
        terms = decode_terms(bytes.fromhex(line.terms))
    except DeckFault as fault:
        return f"`terms`: {fault}"
    for name, side in (("a", line.a), ("b", line.b)):
        sizes = len(side.locks), len(side.lock_nonces), len(side.round_seeds), 4 * len(side.bits)
        if sizes != (terms.positions, terms.positions, terms.rounds, terms.rounds):
            return f"`{name}` has not as many locks and rounds as the terms say"
        if sorted(side.permutation) != list(range(CARDS)):
            return f"`{name}`: `permutation` is none"
        scalars = [side.mask, *side.locks, *side.lock_nonces]
        if not all(0 < int(scalar, 16) < real_group().order for scalar in scalars):
            return f"`{name}`: a scalar is out of range"
    return None


def _secrets(side: Secrets) -> DeckSecrets:
    return DeckSecrets(
        nonce=bytes.fromhex(side.nonce),
        bits=bytes.fromhex(side.bits),
        salt=bytes.fromhex(side.salt),
        mask=int(side.mask, 16),
        permutation=tuple(side.permutation),
        locks=tuple(int(lock, 16) for lock in side.locks),
        round_seeds=tuple(map(bytes.fromhex, side.round_seeds)),
        lock_nonces=tuple(int(nonce, 16) for nonce in side.lock_nonces),
    )


def _played(line: DeckLine) -> Conversation:
    """Make a preparation again, with the same secrets. Raises `DeckFault`."""
    group = real_group()
    terms: DeckTerms = decode_terms(bytes.fromhex(line.terms))
    ours, theirs = _secrets(line.a), _secrets(line.b)
    started, first = receiver.start(group, terms, theirs)
    shuffled, second = initiator.answer(group, terms, ours, first)
    both, third = started.receive(second)
    locked, fourth = shuffled.receive(third)
    receivers, fifth = both.receive(fourth)
    initiators = locked.receive(fifth)
    return Conversation(
        (first, second, third, fourth, fifth),
        (initiators, receivers),
        {
            1: partial(initiator.answer, group, terms, ours),
            2: started.receive,
            3: shuffled.receive,
            4: both.receive,
            5: locked.receive,
        },
    )


def _differences(line: DeckLine, played: Conversation) -> list[str]:
    ours = played.decks[0]
    theirs = played.decks[1]
    positions = ours.terms.positions
    compared: list[tuple[str, object, object]] = [
        *(
            (f"message {step}", message.hex(), stated.lower())
            for step, (message, stated) in enumerate(
                zip(played.messages, line.messages, strict=True), 1
            )
        ),
        ("deck_id", ours.deck.hex(), line.deck_id.lower()),
        ("root", ours.root(positions).hex(), line.root.lower()),
        ("the receiver's root", theirs.root(positions).hex(), line.root.lower()),
        ("D", [point.hex() for point in ours.points], [text.lower() for text in line.D]),
        ("K", [key.hex() for key in ours.initiator_keys], [text.lower() for text in line.K]),
        ("L", [key.hex() for key in ours.receiver_keys], [text.lower() for text in line.L]),
        ("cards", [ours.card(at, theirs.opening(at)) for at in range(positions)], line.cards),
    ]
    return [f"{name} is another one" for name, ours_, stated in compared if ours_ != stated]
