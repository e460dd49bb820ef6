"""Hidden ranks: each player hides four pieces, of which one is a flag, and attacks with the others.

The pieces are the leaves of a Merkle tree. An attack shows one of a player's own pieces, the answer
the piece that is attacked: both are leaves of the same tree in one move. At the end both show all.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.values import Value
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    BadState,
    Bytes32,
    Forced,
    Game,
    Hashes,
    Hidden,
    Initial,
    Integer,
    Moves,
    Next,
    OneOf,
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

LEAF, HASH = 17, 32
"""The bytes of a piece, which are its rank and a salt, and of a hash."""

ATTACKS = 4
"""The most attacks in a game."""

COMMIT_SIZE = 32
SHOWN = LEAF + 2 * HASH
ATTACK = 1 + SHOWN + 1
JOIN_SIZE = 32 + ATTACK
TURN_SIZE = SHOWN + ATTACK
ROW = 4 * LEAF

RULES = {
    "RANKS-TERMS-1": "A proposal has exactly the parameter `amount`: positive, even, below 2^63.",
    "RANKS-COMMIT-1": "The root of Alice's row is 32 bytes.",
    "RANKS-JOIN-1": "Bob sends the root of his row and an attack, 115 bytes.",
    "RANKS-ATTACK-1": "The attacking piece is one of the attacker's living pieces.",
    "RANKS-ATTACK-2": "The branch leads from the attacking piece to the attacker's root.",
    "RANKS-ATTACK-3": "The rank of the attacking piece is 1, 2 or 3; the flag does not attack.",
    "RANKS-ATTACK-4": "The target is one of the opponent's living pieces.",
    "RANKS-TURN-1": "A turn shows a piece in 81 bytes at least.",
    "RANKS-TURN-2": "The branch leads from the attacked piece to its owner's root.",
    "RANKS-TURN-3": "The rank of the attacked piece is from 0 to 3.",
    "RANKS-TURN-4": "A turn is 164 bytes with an attack, or 81 after the last attack.",
    "RANKS-ROW-1": "A row is 68 bytes: four pieces, each with its salt.",
    "RANKS-ROW-2": "The row has the root that its player sent.",
    "RANKS-ROW-3": "Each rank is from 0 to 3.",
    "RANKS-ROW-4": "No rank is there twice.",
    "RANKS-FINISH-1": "The opponent's share is its part of the living pieces.",
}

Mask = Annotated[int, Integer(0, 15)]
Index = Annotated[int, Integer(0, 3)]
Count = Annotated[int, Integer(0, 4)]


class Committing(PlainState, frozen=True):
    """Alice's root is next. CLVM: `()`."""


class Joining(PlainState, frozen=True):
    """Bob's root and first attack are next. CLVM: the atom `alice`."""

    alice: Bytes32


class Turn(PlainState, frozen=True):
    """An answer is next, and an attack unless the game is over.

    CLVM: `(ours theirs mine yours left piece rank target)`: the roots and living pieces (bit i for
    piece i) of the player whose turn it is and of its opponent, the attacks that are left, and the
    opponent's attack.
    """

    ours: Bytes32
    theirs: Bytes32
    mine: Mask
    yours: Mask
    left: Annotated[int, Integer(0, ATTACKS - 1)]
    piece: Index
    rank: Annotated[int, Integer(1, 3)]
    target: Index

    def check_fields(self) -> None:
        if not self.mine >> self.target & 1 or not self.yours >> self.piece & 1:
            raise BadState("target, piece: dead")
        if self.yours.bit_count() < 2:
            raise BadState("yours: nothing but a flag attacks")


class Showing(PlainState, frozen=True):
    """The row of the last attacker is next. CLVM: `(ours theirs mine yours won)`.

    `mine` and `yours` are numbers of living pieces, `won` is 1 if the opponent has lost its flag.
    """

    ours: Bytes32
    theirs: Bytes32
    mine: Annotated[int, Integer(1, 4)]
    yours: Count
    won: Annotated[int, Integer(0, 1)]


class Finishing(PlainState, frozen=True):
    """The other row is next. CLVM: `(ours mine yours)`."""

    ours: Bytes32
    mine: Count
    yours: Annotated[int, Integer(1, 4)]


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the root of her row."""
    if len(move) != COMMIT_SIZE:
        return Slash("RANKS-COMMIT-1")
    return Valid(Next("join", Joining(move), JOIN_SIZE))


def join(
    state: Joining, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob commits and attacks."""
    if len(move) != JOIN_SIZE:
        return Slash("RANKS-JOIN-1")
    bob, attack = move[:32], move[32:]
    if rule := broken_attack(attack, bob, 15, 15):
        return Slash(rule)
    turn = Turn(state.alice, bob, 15, 15, ATTACKS - 1, attack[0], attack[1], attack[-1])
    return Valid(Next("turn", turn, TURN_SIZE))


def turn(
    state: Turn, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """A player shows the attacked piece, and attacks unless the game is over."""
    if len(move) < SHOWN:
        return Slash("RANKS-TURN-1")
    if climb(move[:SHOWN], state.target) != state.ours:
        return Slash("RANKS-TURN-2")
    rank = move[0]
    if rank > 3:
        return Slash("RANKS-TURN-3")
    mine, yours = fought(state, rank)
    over = is_over(state, rank)
    if len(move) != (SHOWN if over else TURN_SIZE):
        return Slash("RANKS-TURN-4")
    if over:
        showing = Showing(
            state.theirs, state.ours, yours.bit_count(), mine.bit_count(), int(rank == 0)
        )
        return Valid(Next("show", showing, ROW))
    attack = move[SHOWN:]
    if rule := broken_attack(attack, state.ours, mine, yours):
        return Slash(rule)
    after = Turn(
        state.theirs, state.ours, yours, mine, state.left - 1, attack[0], attack[1], attack[-1]
    )
    return Valid(Next("turn", after, TURN_SIZE))


def show(
    state: Showing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The last attacker shows its row, which ends the game if it has taken the flag."""
    if rule := broken_row(move, state.ours):
        return Slash(rule)
    if state.won:
        return Valid(None)
    return Valid(Next("finish", Finishing(state.theirs, state.yours, state.mine), ROW))


def finish(
    state: Finishing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The other player shows its row, and declares its opponent's part."""
    if rule := broken_row(move, state.ours):
        return Slash(rule)
    if share < part(state, amount):
        return Slash("RANKS-FINISH-1")
    return Valid(None)


def part(state: Finishing, amount: int) -> int:
    """The part of the opponent of the player that finishes."""
    return amount * state.yours // (state.mine + state.yours)


def broken_attack(attack: bytes, own: bytes, mine: int, yours: int) -> str:
    piece, shown, target = attack[0], attack[1:82], attack[82]
    if piece > 3 or not mine >> piece & 1:
        return "RANKS-ATTACK-1"
    if climb(shown, piece) != own:
        return "RANKS-ATTACK-2"
    if not 1 <= shown[0] <= 3:
        return "RANKS-ATTACK-3"
    if target > 3 or not yours >> target & 1:
        return "RANKS-ATTACK-4"
    return ""


def broken_row(row: bytes, committed: bytes) -> str:
    if len(row) != ROW:
        return "RANKS-ROW-1"
    if root(row) != committed:
        return "RANKS-ROW-2"
    if max(ranks(row)) > 3:
        return "RANKS-ROW-3"
    return "" if len(set(ranks(row))) == 4 else "RANKS-ROW-4"


def beats(one: int, other: int) -> bool:
    """True if a piece of the first rank beats one of the second."""
    if (one, other) == (1, 3):
        return True
    return one > other and (one, other) != (3, 1)


def fought(state: Turn, rank: int) -> tuple[int, int]:
    """The living pieces of the answering player and of the attacker after the answer."""
    dies = not beats(rank, state.rank)
    attacker_dies = not beats(state.rank, rank)
    return state.mine - (dies << state.target), state.yours - (attacker_dies << state.piece)


def is_over(state: Turn, rank: int) -> bool:
    """The flag is taken, no attack is left, or the player has one piece at most."""
    mine, _ = fought(state, rank)
    return rank == 0 or state.left == 0 or mine.bit_count() < 2


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("join", join, Joining.form),
    Validator("turn", turn, Turn.form),
    Validator("show", show, Showing.form),
    Validator("finish", finish, Finishing.form),
)


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("ranks", parameters, "RANKS-TERMS-1")


def initial(terms: Terms) -> Initial:
    """The record of the first coin, which Alice's commitment spends."""
    return Initial("commit", Committing(), COMMIT_SIZE, 0)


# --- the row ---


def leaf(piece: bytes) -> bytes:
    return sha256(b"\x01" + piece).digest()


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x02" + left + right).digest()


def root(row: bytes) -> bytes:
    hashes = [leaf(row[i * LEAF : (i + 1) * LEAF]) for i in range(4)]
    return node(node(*hashes[:2]), node(*hashes[2:]))


def shown(row: bytes, index: int) -> bytes:
    """A piece with its salt and branch, 81 bytes."""
    pieces = [row[i * LEAF : (i + 1) * LEAF] for i in range(4)]
    other = 2 if index < 2 else 0
    return (
        pieces[index] + leaf(pieces[index ^ 1]) + node(leaf(pieces[other]), leaf(pieces[other + 1]))
    )


def climb(piece: bytes, index: int) -> bytes:
    """The root to which a shown piece leads."""
    digest = leaf(piece[:LEAF])
    for at in (LEAF, LEAF + HASH):
        other = piece[at : at + HASH]
        digest = node(other, digest) if index & 1 else node(digest, other)
        index >>= 1
    return digest


def ranks(row: bytes) -> bytes:
    return row[::LEAF]


def _salted(pieces: bytes, chance: Chance) -> bytes:
    return b"".join(bytes((piece,)) + chance.bytes(LEAF - 1) for piece in pieces)


def legal(chance: Chance) -> bytes:
    """Draw a row with each of flag (0), 1, 2, 3 once."""
    return _salted(bytes(chance.draw(range(4), 4)), chance)


def possible(chance: Chance, row: bytes) -> bytes:
    """Draw any row: half of the time this one with another rank in one place."""
    if chance.chance(50):
        at = chance.below(4) * LEAF
        piece, any_byte = row[at], chance.below(256)
        other = chance.pick([rank for rank in (0, 1, 2, 3, any_byte) if rank != piece])
        return row[:at] + bytes((other,)) + row[at + 1 :]
    highest = chance.pick((3, 3, 255))
    return _salted(bytes(chance.between(0, highest) for _ in range(4)), chance)


# --- the player ---


def player(seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]) -> PlainPlayer:
    return PlainPlayer(seat, terms, initial(terms).position, entropy, moves, hidden=hidden)


def moves(player: PlainPlayer) -> Moves:
    row, state = player.hidden["row"], player.position.state
    match state:
        case Joining():
            return {attacks(row, 15, 15): lambda n: Play(root(row) + attack(row, n), 0)}
        case Turn():
            answer, rank = shown(row, state.target), ranks(row)[state.target]
            if is_over(state, rank):
                return {Forced("answer"): Play(answer, 0)}
            mine, yours = fought(state, rank)
            return {attacks(row, mine, yours): lambda n: Play(answer + attack(row, n), 0)}
        case Showing():
            return {Forced("show"): Play(row, 0)}
        case Finishing():
            return {Forced("show"): Play(row, part(state, player.terms.amount))}
        case _:
            return {Forced("commit"): Play(root(row), 0)}


def attacks(row: bytes, mine: int, yours: int) -> OneOf:
    """The choice of an attack: 4 * piece + target."""
    living = [piece for piece in range(4) if mine >> piece & 1]
    able = [piece for piece in living if ranks(row)[piece]] or living
    targets = [target for target in range(4) if yours >> target & 1]
    numbers = tuple(4 * piece + target for piece in able for target in targets)
    return OneOf("attack", numbers, "4 times the number of the piece, plus that of the target")


def attack(row: bytes, number: int) -> bytes:
    piece, target = divmod(number, 4)
    return bytes((piece,)) + shown(row, piece) + bytes((target,))


GAME = Game(
    name="ranks",
    title="Hidden ranks: take the flag among four hidden pieces",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    hidden=(Hidden("row", legal, possible),),
)
