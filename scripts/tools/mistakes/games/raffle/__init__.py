"""Raffle: Alice hides five numbers behind a Merkle tree, and Bob guesses the one that is drawn.

The tree is uneven: the branches of the first four leaves have three hashes, the last one's has one.
Bob sees one number after his guesses. A secret of his and one of Alice's draw the number that
counts. By evidence Bob says which guess he means.
"""

from __future__ import annotations

import itertools
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
    Candidate,
    Evidence,
    Forced,
    Game,
    Hashes,
    Hidden,
    Initial,
    ListOf,
    Moves,
    Next,
    OneOf,
    Parameters,
    PlainPlayer,
    PlainState,
    Play,
    Position,
    Raise,
    Seat,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
    even_terms,
)

RULES = {
    "RAFFLE-TERMS-1": "A proposal has only the parameter `amount`: positive, even, below 2^63.",
    "RAFFLE-HIDE-1": "The root of Alice's numbers is 32 bytes.",
    "RAFFLE-ASK-1": "Bob sends an index, three guesses and the hash of a secret, 36 bytes.",
    "RAFFLE-ASK-2": "The index is below 5.",
    "RAFFLE-ASK-3": "Each guess is below 100.",
    "RAFFLE-ANSWER-1": "The answer is a number, its salt, and three hashes, or one for the last.",
    "RAFFLE-ANSWER-2": "The branch leads from the number asked for to the root.",
    "RAFFLE-OPEN-1": "Bob's secret is 16 bytes.",
    "RAFFLE-OPEN-2": "The secret has the hash that Bob sent.",
    "RAFFLE-NUMBERS-1": "Five numbers with their salts are 85 bytes.",
    "RAFFLE-NUMBERS-2": "The numbers have the root that Alice sent.",
    "RAFFLE-NUMBERS-3": "Each number is above the one before it.",
    "RAFFLE-NUMBERS-4": "Each number is below 100.",
    "RAFFLE-FINISH-1": "Evidence is `()`, or the place of one of the three guesses.",
    "RAFFLE-FINISH-2": "Bob's share is everything for the number, half for at most 8 away from it.",
}

NUMBERS = 5
LEAF = 17
HASH = 32
BELOW = 100
NEAR = 8
PLACES = (b"", b"\x01", b"\x02")
"""The places of guesses as evidence; the first one is empty, as the number 0 is in CLVM."""

_INDEX = ByteIn(range(NUMBERS), "an index below 5")
_GUESS = ByteIn(range(BELOW), "a guess below 100")
Guesses: TypeAlias = Annotated[tuple[int, ...], ListOf(_GUESS, 3, 3)]


class Hiding(PlainState, frozen=True):
    """Alice's root is next. CLVM: `()`."""


class Asking(PlainState, frozen=True):
    """Bob's index and guesses are next. CLVM: the atom `root`."""

    root: Bytes32


class Answering(PlainState, frozen=True):
    """Alice's number at the index is next. CLVM: `(root image guesses index)`."""

    root: Bytes32
    image: Bytes32
    guesses: Guesses
    index: Annotated[int, _INDEX]


class Opening(PlainState, frozen=True):
    """Bob's secret is next. CLVM: `(root image guesses)`."""

    root: Bytes32
    image: Bytes32
    guesses: Guesses


class Finishing(PlainState, frozen=True):
    """Alice's numbers are next. CLVM: `(root secret guesses)`."""

    root: Bytes32
    secret: Bytes16
    guesses: Guesses


def hide(
    state: Hiding, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the root of her numbers."""
    if len(move) != HASH:
        return Slash("RAFFLE-HIDE-1")
    return Valid(Next("ask", Asking(move), 36))


def ask(
    state: Asking, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob asks. MOVE is an index, three guesses, and the hash of his secret."""
    if len(move) != 36:
        return Slash("RAFFLE-ASK-1")
    if move[0] >= NUMBERS:
        return Slash("RAFFLE-ASK-2")
    guesses = tuple(move[1:4])
    if max(guesses) >= BELOW:
        return Slash("RAFFLE-ASK-3")
    return Valid(Next("answer", Answering(state.root, move[4:], guesses, move[0]), 113))


def answer(
    state: Answering, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice answers. MOVE is a number, its salt, and its branch."""
    if len(move) != LEAF + HASH * _depth(state.index):
        return Slash("RAFFLE-ANSWER-1")
    if _climb(_leaf(move[:LEAF]), state.index, move[LEAF:]) != state.root:
        return Slash("RAFFLE-ANSWER-2")
    return Valid(Next("open", Opening(state.root, state.image, state.guesses), 16))


def open_secret(
    state: Opening, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob opens his secret, which is MOVE."""
    if len(move) != 16:
        return Slash("RAFFLE-OPEN-1")
    if sha256(move).digest() != state.image:
        return Slash("RAFFLE-OPEN-2")
    return Valid(Next("finish", Finishing(state.root, move, state.guesses), 85))


def finish(
    state: Finishing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice shows all numbers. Evidence says which guess counts; the share is Bob's."""
    if len(move) != NUMBERS * LEAF:
        return Slash("RAFFLE-NUMBERS-1")
    if _root(move) != state.root:
        return Slash("RAFFLE-NUMBERS-2")
    numbers = move[::LEAF]
    if any(one >= other for one, other in itertools.pairwise(numbers)):
        return Slash("RAFFLE-NUMBERS-3")
    if numbers[-1] >= BELOW:
        return Slash("RAFFLE-NUMBERS-4")
    if evidence not in PLACES:
        return Raise("RAFFLE-FINISH-1")
    guess = state.guesses[PLACES.index(evidence)]
    if share < _due(guess, _drawn(move, state.secret), amount):
        return Slash("RAFFLE-FINISH-2")
    return Valid(None)


def _drawn(leaves: bytes, secret: bytes) -> int:
    """The number that counts: the first bytes of both secrets draw it."""
    return leaves[(leaves[1] + secret[0]) % NUMBERS * LEAF]


def _due(guess: int, number: int, amount: int) -> int:
    return amount if guess == number else amount // 2 if abs(guess - number) <= NEAR else 0


# --- the tree ------------------------------------------------------------------------------------


def _leaf(number: bytes) -> bytes:
    return sha256(b"\x01" + number).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x02" + left + right).digest()


def _depth(index: int) -> int:
    return 1 if index == NUMBERS - 1 else 3


def _cut(leaves: bytes) -> list[bytes]:
    return [leaves[at : at + LEAF] for at in range(0, len(leaves), LEAF)]


def _root(leaves: bytes) -> bytes:
    *four, last = map(_leaf, _cut(leaves))
    return _node(_node(_node(*four[:2]), _node(*four[2:])), last)


def _branch(leaves: bytes, index: int) -> bytes:
    hashes = list(map(_leaf, _cut(leaves)))
    if index == NUMBERS - 1:
        return _node(_node(*hashes[:2]), _node(*hashes[2:4]))
    other = hashes[2:4] if index < 2 else hashes[:2]
    return hashes[index ^ 1] + _node(*other) + hashes[-1]


def _climb(digest: bytes, index: int, branch: bytes) -> bytes:
    if index == NUMBERS - 1:
        index = 1
    for at in range(0, len(branch), HASH):
        other = branch[at : at + HASH]
        digest = _node(other, digest) if index & 1 else _node(digest, other)
        index >>= 1
    return digest


# --- the players ---------------------------------------------------------------------------------


def legal(chance: Chance) -> bytes:
    """Draw five ascending numbers, each with a salt."""
    numbers = sorted(chance.draw(range(BELOW), NUMBERS))
    return b"".join(bytes([number]) + chance.bytes(LEAF - 1) for number in numbers)


def possible(chance: Chance, numbers: bytes) -> bytes:
    """Draw any five bytes as the numbers; half of the time only one number is different."""
    changed = bytearray(numbers)
    places = [chance.below(NUMBERS)] if chance.chance(50) else range(NUMBERS)
    for place in places:
        near = changed[chance.below(NUMBERS) * LEAF] + chance.between(-1, 1)
        changed[place * LEAF] = chance.pick((near % 256, chance.below(256)))
    return bytes(changed)


def moves(player: PlainPlayer) -> Moves:
    """The choices: Bob's index and guesses are drawn from his secret, but for the index."""
    numbers, state = player.hidden.get("numbers", b""), player.position.state
    match state:
        case Asking():
            guesses = bytes(byte % BELOW for byte in player.secret[16:19])
            rest = guesses + sha256(player.secret[:16]).digest()
            index = OneOf("ask", tuple(range(NUMBERS)), "an index from 0 to 4")
            return {index: lambda index: Play(bytes([index]) + rest, 0)}
        case Answering(index=index):
            leaf = numbers[index * LEAF : (index + 1) * LEAF]
            return {Forced("answer"): Play(leaf + _branch(numbers, index), 0)}
        case Opening():
            return {Forced("open"): Play(player.secret[:16], 0)}
        case Finishing(secret=secret, guesses=guesses):
            drawn, amount = _drawn(numbers, secret), player.terms.amount
            share = max(_due(guess, drawn, amount) for guess in guesses)
            return {Forced("show"): Play(numbers, share)}
        case _:
            return {Forced("hide"): Play(_root(numbers), 0)}


def proofs(player: PlainPlayer, before: Position, move: bytes) -> tuple[Candidate, ...]:
    """Each guess, against Alice's last move."""
    if not isinstance(before.state, Finishing):
        return ()
    return tuple(Evidence(place) for place in PLACES)


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("raffle", parameters, "RAFFLE-TERMS-1")


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("hide", Hiding(), HASH, 0)


def player(seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]) -> PlainPlayer:
    """A player at the start of a game; only Alice hides numbers."""
    return PlainPlayer(seat, terms, initial(terms).position, entropy, moves, proofs, hidden)


VALIDATORS = by_name(
    Validator("hide", hide, Hiding.form),
    Validator("ask", ask, Asking.form),
    Validator("answer", answer, Answering.form),
    Validator("open", open_secret, Opening.form),
    Validator("finish", finish, Finishing.form),
)

GAME = Game(
    name="raffle",
    title="Raffle: numbers behind an uneven Merkle tree",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=32,
    hidden=(Hidden("numbers", legal, possible, (Seat.ALICE,)),),
    total=True,
)
