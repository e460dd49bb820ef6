"""The rules of Space Poker: one judge for each of the five kinds of move.

Each follows the law of validators: shapes first, then the rules that need no evidence, each
answering with its id at the first fault; only then the evidence. `share` is what the
challenger gets, that is, the opponent of who made the move; `stake` is half the amount.
`move` and `evidence` come from strangers and may be anything: no judge ever raises.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TypeAlias

from clsp.integers import atom_to_int, is_minimal
from clsp.values import Value
from games.contract import Hashes, Next, Raise, Slash, Valid, Validator, Verdict, by_name
from games.masks import read_mask
from games.spacepoker.cards import board, boost, cards, draw_number
from games.spacepoker.entropy import above, wins_toss
from games.spacepoker.hands import FIVE_OF_SEVEN, value_of_selection
from games.spacepoker.states import (
    PRE_FLOP,
    RIVER,
    BeginRound,
    CommitA,
    CommitB,
    End,
    MidRound,
)

_Dealt: TypeAlias = tuple[tuple[int, ...], int]

COMMIT_SIZE = 32
"""A commitment: one image."""

BET_SIZE = 42
"""The most that a betting move takes: an image and 10 bytes of amount."""

REVEAL_SIZE = 17
"""The showdown: a preimage and a selection."""


def commit_a(
    state: CommitA, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits to her chain: MOVE is a5."""
    if len(move) != 32:
        return Slash("SP-COMMITA-1")
    if share != amount // 2:
        return Slash("SP-COMMITA-2")
    return Valid(Next("commitB", CommitB(state.bet_unit, move), COMMIT_SIZE))


def commit_b(
    state: CommitB, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob commits to his: MOVE is b4. With it, each player has one bet unit in the pot."""
    unit = state.bet_unit
    if len(move) != 32:
        return Slash("SP-COMMITB-1")
    if share != amount // 2 - unit:
        return Slash("SP-COMMITB-2")
    street = BeginRound(unit, unit, state.alices_image, move, PRE_FLOP, hashes["mid_round"])
    return Valid(Next("begin_round", street, BET_SIZE))


def begin_round(
    state: BeginRound, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """A street starts: MOVE is the mover's image N, then the opening amount (none: a check)."""
    stake = amount // 2
    unit, pot, street = state.bet_unit, state.half_pot, state.street
    image, tail = move[:32], move[32:]
    if len(image) != 32:
        return Slash("SP-BEGIN-1")
    if share != stake - pot:
        return Slash("SP-BEGIN-2")
    if sha256(image).digest() != state.mover_image:
        return Slash("SP-BEGIN-3")
    # The toss comes before the length, so that nobody dodges it by checking.
    if street == PRE_FLOP and not wins_toss(image, state.waiter_image):
        if tail:
            return Slash("SP-BEGIN-4")
        # The opponent's image 4 is known; from here on it is the mover, committed to image 5.
        image_5 = sha256(state.waiter_image).digest()
        pong = BeginRound(unit, pot, image_5, image, street, state.mid_round_hash)
        return Valid(Next("begin_round", pong, BET_SIZE))
    if not is_minimal(tail):
        return Slash("SP-BEGIN-5")
    opening = atom_to_int(tail)
    if opening < 0:
        return Slash("SP-BEGIN-6")
    if pot + opening > stake:
        return Slash("SP-BEGIN-7")
    bet = MidRound(unit, pot, opening, state.waiter_image, image, street)
    return Valid(Next("mid_round", bet, BET_SIZE))


def mid_round(
    state: MidRound, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The answer to a bet: MOVE is the value below the mover's image (a call), or 32 bytes
    that nobody reads and a raise."""
    stake = amount // 2
    unit, street = state.bet_unit, state.street
    pot = state.half_pot + state.last_raise
    if share != stake - pot:
        return Slash("SP-MID-1")
    if len(move) > 32:
        tail = move[32:]
        if not is_minimal(tail):
            return Slash("SP-MID-2")
        more = atom_to_int(tail)
        if more <= 0:
            return Slash("SP-MID-3")
        if pot + more > stake:
            return Slash("SP-MID-4")
        bet = MidRound(unit, pot, more, state.waiter_image, state.mover_image, street)
        return Valid(Next("mid_round", bet, BET_SIZE))
    if len(move) != (16 if street == RIVER else 32):
        return Slash("SP-MID-5")
    if sha256(move).digest() != state.mover_image:
        return Slash("SP-MID-6")
    if street == RIVER:
        return Valid(Next("end", End(pot, state.waiter_image, move), REVEAL_SIZE))
    after = BeginRound(unit, pot, state.waiter_image, move, street - 1, hashes["mid_round"])
    return Valid(Next("begin_round", after, BET_SIZE))


def end(
    state: End, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The showdown: MOVE is the mover's preimage and its selection, the evidence is the
    challenger's selection. It ends the game."""
    if len(move) != REVEAL_SIZE:
        return Slash("SP-END-1")
    shown, selection = move[:16], move[16]
    if sha256(shown).digest() != state.mover_image:
        return Slash("SP-END-2")
    if selection not in FIVE_OF_SEVEN:
        return Slash("SP-END-3")
    answer = read_mask(evidence)
    if answer not in FIVE_OF_SEVEN:
        return Raise("SP-END-4")
    if share < amount // 2 + state.half_pot * _outcome(state, shown, selection, answer):
        return Slash("SP-END-5")
    return Valid(None)


def _outcome(state: End, shown: bytes, selection: int, answer: int) -> int:
    """1 when the challenger's selection is better, 0 in a tie, −1 when the revealer's is."""
    (ours, our_boost), (theirs, their_boost) = _dealt(
        shown, state.mover_image, state.waiter_preimage
    )
    revealed = value_of_selection(ours, selection, our_boost)
    challenging = value_of_selection(theirs, answer, their_boost)
    return (challenging > revealed) - (challenging < revealed)


@lru_cache(maxsize=64)
def _dealt(revealer_0: bytes, revealer_1: bytes, challenger_0: bytes) -> tuple[_Dealt, _Dealt]:
    """The seven cards and the boost of each. Kept, as one deal is judged with many selections."""
    challenger_1 = sha256(challenger_0).digest()
    common = board(revealer_1, challenger_1, RIVER)
    ours = draw_number(revealer_0, above(challenger_1, 3))
    theirs = draw_number(challenger_0, above(revealer_1, 3))
    return (cards(ours, 2) + common, boost(ours)), (cards(theirs, 2) + common, boost(theirs))


VALIDATORS = by_name(
    Validator("commitA", commit_a, CommitA.read),
    Validator("commitB", commit_b, CommitB.read),
    Validator("begin_round", begin_round, BeginRound.read),
    Validator("mid_round", mid_round, MidRound.read),
    Validator("end", end, End.read),
)
"""By name, in the order of play."""
