"""Pairs: each player rolls four dice and picks two; the higher sum wins what Bob has bet.

Alice commits to a secret, Bob bets, Alice reveals. All dice follow from the secret and Bob's seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.values import Value, atom_to_int, int_to_atom, is_minimal
from channelsim.games.contract import (
    Amount,
    Bytes32,
    Forced,
    Game,
    Hashes,
    Initial,
    Mojos,
    Moves,
    Next,
    Parameters,
    Plain,
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
    "PAIRS-TERMS-1": "A proposal has exactly the parameter `amount`: positive, even, below 2^63.",
    "PAIRS-COMMIT-1": "Alice's commitment is 32 bytes.",
    "PAIRS-COMMIT-2": "With Alice's commitment, Bob's share is his stake.",
    "PAIRS-BET-1": "Bob's move is at least 32 bytes: his seed, his bet.",
    "PAIRS-BET-2": "The bet is an integer in the fewest bytes.",
    "PAIRS-BET-3": "The bet is from 0, which ends the game, to a stake.",
    "PAIRS-BET-4": "With Bob's bet, Alice's share is her stake less the bet.",
    "PAIRS-REVEAL-1": "The reveal is 33 bytes: Alice's secret, her pick.",
    "PAIRS-REVEAL-2": "The secret hashes to Alice's commitment.",
    "PAIRS-REVEAL-3": "The pick is exactly two of the four dice.",
    "PAIRS-REVEAL-4": "Evidence is one byte, exactly two of the four dice; else the slash fails.",
    "PAIRS-REVEAL-5": "Bob's share is his stake, plus the bet for the higher sum, minus it for the"
    " lower.",
}

PICKS = {bytes([1 << i | 1 << j]): (i, j) for i, j in combinations(range(4), 2)}
"""The two dice of each pick: a byte in which bit i is die i."""


class Committing(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: `()`."""


class Betting(PlainState, frozen=True):
    """Bob's bet is next. CLVM: the atom `commit`, the hash of Alice's secret."""

    commit: Bytes32


class Revealing(PlainState, frozen=True):
    """Alice's reveal is next. CLVM: `(commit seed bet)`."""

    commit: Bytes32
    seed: Bytes32
    bet: Mojos


def commit(
    state: Committing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits. MOVE is the hash of her secret."""
    if len(move) != 32:
        return Slash("PAIRS-COMMIT-1")
    if share != amount // 2:
        return Slash("PAIRS-COMMIT-2")
    return Valid(Next("bet", Betting(move), 40))


def bet(
    state: Betting, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob bets. MOVE is his seed and the bet; the share is Alice's, if she never reveals."""
    if len(move) < 32:
        return Slash("PAIRS-BET-1")
    seed, atom = move[:32], move[32:]
    if not is_minimal(atom):
        return Slash("PAIRS-BET-2")
    bet = atom_to_int(atom)
    if not 0 <= bet <= amount // 2:
        return Slash("PAIRS-BET-3")
    if share != amount // 2 - bet:
        return Slash("PAIRS-BET-4")
    return Valid(Next("reveal", Revealing(state.commit, seed, bet), 33) if bet else None)


def reveal(
    state: Revealing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice reveals. The share is Bob's, the evidence his pick. It ends the game."""
    if len(move) != 33:
        return Slash("PAIRS-REVEAL-1")
    secret, pick = move[:32], move[32:]
    if sha256(secret).digest() != state.commit:
        return Slash("PAIRS-REVEAL-2")
    if pick not in PICKS:
        return Slash("PAIRS-REVEAL-3")
    if evidence not in PICKS:
        return Raise("PAIRS-REVEAL-4")
    if share < bobs_share(amount, state.bet, dice(secret, state.seed), pick, evidence):
        return Slash("PAIRS-REVEAL-5")
    return Valid(None)


Dice = tuple[Sequence[int], Sequence[int]]
"""The four dice of Alice, and those of Bob, each from 0 to 7."""


def dice(secret: bytes, seed: bytes) -> Dice:
    """The dice that both secrets give."""
    rolled = [byte & 7 for byte in sha256(secret + seed).digest()]
    return rolled[:4], rolled[4:8]


def bobs_share(amount: int, bet: int, dice: Dice, alices: bytes, bobs: bytes) -> int:
    """What two picks leave Bob, in mojos."""
    ours, theirs = (
        sum(four[die] for die in PICKS[pick])
        for four, pick in zip(dice, (alices, bobs), strict=True)
    )
    return amount // 2 + bet * ((theirs > ours) - (theirs < ours))


def best(four: Sequence[int]) -> bytes:
    """The pick with the highest sum."""
    return max(PICKS, key=lambda pick: sum(four[die] for die in PICKS[pick]))


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("pairs", parameters, "PAIRS-TERMS-1")


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("commit", Committing(), 32, 0)


def moves(player: PlainPlayer) -> Moves:
    """The choices. The bet is the only decision; both players pick their best dice."""
    stake, secret = player.terms.amount // 2, player.secret
    match player.position.state:
        case Betting():
            return {
                Amount("bet", 1, stake): lambda bet: Play(secret + int_to_atom(bet), stake - bet),
                Plain("pass"): Play(secret, stake),
            }
        case Revealing(seed=seed, bet=bet):
            both = dice(secret, seed)
            alices, bobs = map(best, both)
            share = bobs_share(2 * stake, bet, both, alices, bobs)
            return {Forced("reveal"): Play(secret + alices, share, bobs)}
        case _:
            return {Forced("commit"): Play(sha256(secret).digest(), stake)}


def proofs(player: PlainPlayer, before: Position, move: bytes) -> tuple[Value, ...]:
    """Bob's pick, against Alice's reveal."""
    if isinstance(before.state, Revealing):
        return (best(dice(move[:32], before.state.seed)[1]),)
    return ()


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    """A player at the start of a game; its 32 bytes are Alice's secret or Bob's seed."""
    return PlainPlayer(seat, terms, initial(terms).position, entropy[:32], moves, proofs)


VALIDATORS = by_name(
    Validator("commit", commit, Committing.form),
    Validator("bet", bet, Betting.form),
    Validator("reveal", reveal, Revealing.form),
)

GAME = Game(
    name="pairs",
    title="Pairs: the higher two of four dice win what Bob bets",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
)
