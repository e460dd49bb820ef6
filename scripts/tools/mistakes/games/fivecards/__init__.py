"""Five cards: each player has hidden an order of the cards 1 to 5 behind a chain of hashes.

In each round both show their next card. The higher one wins as many points as the round's number
and the two salts say. Who has more points in the end gets everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, TypeAlias

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.values import Value
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    ByteIn,
    Bytes16,
    Bytes32,
    Forced,
    Game,
    Hashes,
    HashOf,
    Hidden,
    Initial,
    Integer,
    ListOf,
    Moves,
    Next,
    Parameters,
    PlainPlayer,
    PlainState,
    Play,
    Seat,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
    even_terms,
)
from channelsim.games.errors import BadState

RULES = {
    "FIVECARDS-TERMS-1": "A proposal has only the parameter `amount`: positive, even, below 2^63.",
    "FIVECARDS-COMMIT-1": "The head of Alice's chain is 32 bytes.",
    "FIVECARDS-JOIN-1": "The head of Bob's chain is 32 bytes.",
    "FIVECARDS-CARD-1": "A move is 49 bytes: a card, its salt of 16 bytes, the rest of the chain.",
    "FIVECARDS-CARD-2": "The move's hash is the head of the player's chain.",
    "FIVECARDS-CARD-3": "The card is one of 1 to 5.",
    "FIVECARDS-CARD-4": "The player has not shown this card before.",
    "FIVECARDS-FOLLOW-1": "Alice's share is everything for more points, half for as many.",
}

CARDS = 5
SIZE = 49
LEAF = 17
MOST = 200

_CARD = ByteIn(range(1, CARDS + 1), "a card from 1 to 5")
Shown: TypeAlias = Annotated[tuple[int, ...], ListOf(_CARD, CARDS)]
Score: TypeAlias = Annotated[int, Integer(-MOST, MOST)]


class Committing(PlainState, frozen=True):
    """Alice's chain is next. CLVM: `()`."""


class Joining(PlainState, frozen=True):
    """Bob's chain is next. CLVM: the atom `alice`."""

    alice: Bytes32


class Leading(PlainState, frozen=True):
    """Alice's card is next. CLVM: `(alice bob alices bobs score)`.

    The heads of both chains, the cards shown, newest first, and how many points Alice has more.
    """

    alice: Bytes32
    bob: Bytes32
    alices: Shown
    bobs: Shown
    score: Score

    def check_fields(self) -> None:
        """Refuse what no play leads to."""
        _check(self.alices, self.bobs, 0)


class Following(PlainState, frozen=True):
    """Bob's card is next. CLVM: `(lead_hash alice bob alices bobs score salt)`.

    The tree hash of the program `lead`, to which `follow` goes back. The salt is Alice's.
    """

    lead_hash: Annotated[bytes, HashOf("lead")]
    alice: Bytes32
    bob: Bytes32
    alices: Shown
    bobs: Shown
    score: Score
    salt: Bytes16

    def check_fields(self) -> None:
        """Refuse what no play leads to."""
        _check(self.alices, self.bobs, 1)


def _check(alices: tuple[int, ...], bobs: tuple[int, ...], more: int) -> None:
    if len(alices) != len(bobs) + more or len(bobs) == CARDS:
        raise BadState("alices, bobs: not the cards before a move")
    if any(len(set(shown)) < len(shown) for shown in (alices, bobs)):
        raise BadState("alices, bobs: a card twice")


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the head of her chain."""
    if len(move) != 32:
        return Slash("FIVECARDS-COMMIT-1")
    return Valid(Next("join", Joining(move), 32))


def join(
    state: Joining, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob commits. MOVE is the head of his chain."""
    if len(move) != 32:
        return Slash("FIVECARDS-JOIN-1")
    return Valid(Next("lead", Leading(state.alice, move, (), (), 0), SIZE))


def lead(
    state: Leading, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice shows a card. MOVE is a card, its salt, and the rest of her chain."""
    if rule := _broken(move, state.alice, state.alices):
        return Slash(rule)
    alices = (move[0], *state.alices)
    fields = move[LEAF:], state.bob, alices, state.bobs, state.score, move[1:LEAF]
    after = Following(hashes["lead"], *fields)
    return Valid(Next("follow", after, SIZE))


def follow(
    state: Following, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob shows a card. MOVE is a card, its salt, and the rest of his chain."""
    if rule := _broken(move, state.bob, state.bobs):
        return Slash(rule)
    score = _score(state, move)
    if len(state.bobs) + 1 < CARDS:
        bobs = (move[0], *state.bobs)
        after = Leading(state.alice, move[LEAF:], state.alices, bobs, score)
        return Valid(Next("lead", after, SIZE))
    if share < _due(score, amount):
        return Slash("FIVECARDS-FOLLOW-1")
    return Valid(None)


def _broken(move: bytes, head: bytes, shown: tuple[int, ...]) -> str:
    if len(move) != SIZE:
        return "FIVECARDS-CARD-1"
    if sha256(move).digest() != head:
        return "FIVECARDS-CARD-2"
    if not 1 <= move[0] <= CARDS:
        return "FIVECARDS-CARD-3"
    return "FIVECARDS-CARD-4" if move[0] in shown else ""


def _score(state: Following, move: bytes) -> int:
    """Alice's points less Bob's, after his card."""
    points = len(state.bobs) + 1 + ((state.salt[-1] + move[LEAF - 1]) & 3)
    alices, bobs = state.alices[0], move[0]
    return state.score + (points if alices > bobs else -points if bobs > alices else 0)


def _due(score: int, amount: int) -> int:
    return amount if score > 0 else amount // 2 if score == 0 else 0


def legal(chance: Chance) -> bytes:
    """Draw an order of the cards, each with a salt."""
    order = chance.draw(range(1, CARDS + 1), CARDS)
    return b"".join(bytes([card]) + chance.bytes(LEAF - 1) for card in order)


def possible(chance: Chance, cards: bytes) -> bytes:
    """Draw any bytes as the cards; half of the time only one card is different."""
    changed = bytearray(cards)
    places = [chance.below(CARDS)] if chance.chance(50) else range(CARDS)
    for place in places:
        changed[place * LEAF] = chance.pick((chance.below(7), chance.below(7), chance.below(256)))
    return bytes(changed)


def chain(cards: bytes) -> list[bytes]:
    """The moves that show the cards, and before them the head."""
    link, moves = bytes(32), list[bytes]()
    for place in reversed(range(CARDS)):
        moves.append(cards[place * LEAF : (place + 1) * LEAF] + link)
        link = sha256(moves[-1]).digest()
    return [link, *reversed(moves)]


def moves(player: PlainPlayer) -> Moves:
    """The next part of the chain; nothing is decided after the order."""
    links, state = chain(player.hidden["cards"]), player.position.state
    match state:
        case Leading(alices=alices):
            return {Forced("show"): Play(links[len(alices) + 1], 0)}
        case Following(bobs=bobs):
            move = links[len(bobs) + 1]
            share = 0
            if len(bobs) + 1 == CARDS:
                share = _due(_score(state, move), player.terms.amount)
            return {Forced("show"): Play(move, share)}
        case _:
            return {Forced("commit"): Play(links[0], 0)}


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("fivecards", parameters, "FIVECARDS-TERMS-1")


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("commit", Committing(), 32, 0)


def player(seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]) -> PlainPlayer:
    """A player at the start of a game, with its order of cards."""
    return PlainPlayer(seat, terms, initial(terms).position, entropy, moves, hidden=hidden)


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("join", join, Joining.form),
    Validator("lead", lead, Leading.form),
    Validator("follow", follow, Following.form),
)

GAME = Game(
    name="fivecards",
    title="Five cards: an order of cards behind a chain of hashes",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    hidden=(Hidden("cards", legal, possible),),
    total=True,
)
