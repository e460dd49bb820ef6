"""The rules of Space Poker: one judge for each of the five kinds of move.

The same rules as programs, with the same names, are `clsp/source/spacepoker/<validator>.clsp`.
Source: spec/spacepoker.md, "Validators".
Every judge checks the shape first, then the rules that need no evidence, then the evidence, and
answers with the id of the first rule that is broken.

The *mover* is the player that makes the move, the *waiter* is its opponent and the challenger.
`share` (MOVER_SHARE) is the **waiter's**: what it is paid if it never answers. In a state,
`mover_image` is the mover's image and `waiter_image` the waiter's. `stake` is half the amount.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TypeAlias

from channelsim.clsp.values import Value, atom_to_int, is_minimal
from channelsim.games.contract import (
    Hashes,
    Next,
    Pack,
    Raise,
    Rank,
    Slash,
    State,
    Valid,
    Validator,
    Verdict,
    by_name,
)
from channelsim.games.counting import HandValue, ranked, read_mask
from channelsim.games.pack import Cards, Compared
from channelsim.games.spacepoker.cards import above, board, hole, wins_toss
from channelsim.games.spacepoker.hands import (
    FIVE_OF_SEVEN,
    best_of_seven,
    selection_text,
    value_of_selection,
)
from channelsim.games.spacepoker.states import (
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
"""Size of a commitment: one image."""

BET_SIZE = 42
"""Size limit of a betting move: an image and 10 bytes of amount."""

REVEAL_SIZE = 17
"""Size of the showdown: a preimage and a selection."""


def commit_a(
    state: CommitA, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits to her hash chain. MOVE is her image 5; the share is Bob's."""
    if len(move) != 32:
        return Slash("SP-COMMITA-1")
    if share != amount // 2:
        return Slash("SP-COMMITA-2")
    return Valid(Next("commitB", CommitB(state.bet_unit, move), COMMIT_SIZE))


def commit_b(
    state: CommitB, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob commits to his hash chain, and each player puts in a bet unit.

    MOVE is his image 4; the share is Alice's.
    """
    bet_unit = state.bet_unit
    if len(move) != 32:
        return Slash("SP-COMMITB-1")
    if share != amount // 2 - bet_unit:
        return Slash("SP-COMMITB-2")
    first = BeginRound(bet_unit, bet_unit, state.alices_image, move, PRE_FLOP, hashes["mid_round"])
    return Valid(Next("begin_round", first, BET_SIZE))


def begin_round(
    state: BeginRound, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover reveals its image of a street and opens the betting, or pongs.

    MOVE is that image, then the opening amount (nothing: a check).
    """
    stake = amount // 2
    bet_unit, half_pot, street = state.bet_unit, state.half_pot, state.street
    image, opening_atom = move[:32], move[32:]
    if len(image) != 32:
        return Slash("SP-BEGIN-1")
    if share != stake - half_pot:
        return Slash("SP-BEGIN-2")
    if sha256(image).digest() != state.mover_image:
        return Slash("SP-BEGIN-3")
    # The toss comes before the length, so that a mover cannot avoid it by a check.
    if street == PRE_FLOP and not wins_toss(image, state.waiter_image):
        if opening_atom:
            return Slash("SP-BEGIN-4")
        # The waiter's image 4 is public; as the next mover it is committed to its image 5.
        image_5 = sha256(state.waiter_image).digest()
        pong = BeginRound(bet_unit, half_pot, image_5, image, street, state.mid_round_hash)
        return Valid(Next("begin_round", pong, BET_SIZE))
    if not is_minimal(opening_atom):
        return Slash("SP-BEGIN-5")
    opening = atom_to_int(opening_atom)
    if opening < 0:
        return Slash("SP-BEGIN-6")
    if half_pot + opening > stake:
        return Slash("SP-BEGIN-7")
    bet = MidRound(bet_unit, half_pot, opening, state.waiter_image, image, street)
    return Valid(Next("mid_round", bet, BET_SIZE))


def mid_round(
    state: MidRound, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover answers a bet, a raise or a check: it raises, or calls.

    MOVE is, for a raise, 32 bytes that no rule reads and the new raise; for a call, the mover's
    next image, or its preimage on the river. `pot` is what each player has in it after a call.
    """
    stake = amount // 2
    bet_unit, street = state.bet_unit, state.street
    pot = state.half_pot + state.last_raise
    if share != stake - pot:
        return Slash("SP-MID-1")
    if len(move) > 32:
        raise_atom = move[32:]
        if not is_minimal(raise_atom):
            return Slash("SP-MID-2")
        new_raise = atom_to_int(raise_atom)
        if new_raise <= 0:
            return Slash("SP-MID-3")
        if pot + new_raise > stake:
            return Slash("SP-MID-4")
        bet = MidRound(bet_unit, pot, new_raise, state.waiter_image, state.mover_image, street)
        return Valid(Next("mid_round", bet, BET_SIZE))
    if len(move) != (16 if street == RIVER else 32):
        return Slash("SP-MID-5")
    if sha256(move).digest() != state.mover_image:
        return Slash("SP-MID-6")
    if street == RIVER:
        return Valid(Next("end", End(pot, state.waiter_image, move), REVEAL_SIZE))
    following = BeginRound(bet_unit, pot, state.waiter_image, move, street - 1, hashes["mid_round"])
    return Valid(Next("begin_round", following, BET_SIZE))


def end(
    state: End, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """The mover reveals its preimage and shows its best five cards. It ends the game.

    MOVE is the preimage and the mover's selection; the evidence is the waiter's selection.
    """
    if len(move) != REVEAL_SIZE:
        return Slash("SP-END-1")
    preimage, selection = move[:16], move[16]
    if sha256(preimage).digest() != state.mover_image:
        return Slash("SP-END-2")
    if selection not in FIVE_OF_SEVEN:
        return Slash("SP-END-3")
    waiter_selection = read_mask(evidence)
    if waiter_selection not in FIVE_OF_SEVEN:
        return Raise("SP-END-4")
    mover, waiter = _shown(state, preimage, selection, waiter_selection)
    # 1 when the waiter has the better hand, 0 in a tie, −1 when the mover has.
    outcome = (waiter > mover) - (waiter < mover)
    if share < amount // 2 + state.half_pot * outcome:
        return Slash("SP-END-5")
    return Valid(None)


def showdown(state: State, move: bytes, evidence: Value) -> tuple[Rank, Rank] | None:
    """The ranks of the hands that `end` compares; None where it would compare none."""
    mask = read_mask(evidence)
    if not isinstance(state, End) or len(move) != REVEAL_SIZE:
        return None
    if mask is None or not {mask, move[16]} <= FIVE_OF_SEVEN:
        return None
    mover, waiter = _shown(state, move[:16], move[16], mask)
    return ranked(mover), ranked(waiter)


def hands_shown(state: State, move: bytes, evidence: Value) -> tuple[str, str] | None:
    """The hands that `end` compares, by name with their five cards; None where it would compare
    none."""
    mask = read_mask(evidence)
    if not isinstance(state, End) or showdown(state, move, evidence) is None or mask is None:
        return None
    (mover_cards, mover_boost), (waiter_cards, waiter_boost) = _dealt(
        move[:16], state.mover_image, state.waiter_preimage
    )
    return (
        selection_text(mover_cards, move[16], mover_boost),
        selection_text(waiter_cards, mask, waiter_boost),
    )


def _shown(
    state: End, preimage: bytes, selection: int, waiter_selection: int
) -> tuple[HandValue, HandValue]:
    """The values of the five cards that the mover and the waiter select."""
    (mover_cards, mover_boost), (waiter_cards, waiter_boost) = _dealt(
        preimage, state.mover_image, state.waiter_preimage
    )
    return (
        value_of_selection(mover_cards, selection, mover_boost),
        value_of_selection(waiter_cards, waiter_selection, waiter_boost),
    )


@lru_cache(maxsize=64)
def _dealt(mover_0: bytes, mover_1: bytes, waiter_0: bytes) -> tuple[_Dealt, _Dealt]:
    """The mover's seven cards and boost, and the waiter's, from values 0 and 1 of their chains.

    Cached: one deal is judged with many selections.
    """
    waiter_1 = sha256(waiter_0).digest()
    common = board(mover_1, waiter_1, RIVER)
    movers, mover_boost = hole(mover_0, above(waiter_1, 3))
    waiters, waiter_boost = hole(waiter_0, above(mover_1, 3))
    return (movers + common, mover_boost), (waiters + common, waiter_boost)


def cards_shown(state: State, move: bytes) -> Cards | None:
    """The seven cards and the boost of the mover, and of the waiter; None before the showdown."""
    if not isinstance(state, End) or len(move) != REVEAL_SIZE:
        return None
    dealt = _dealt(move[:16], state.mover_image, state.waiter_preimage)
    return tuple(number for cards, boost in dealt for number in (*cards, boost))


def compared(cards: Cards) -> Compared:
    """The best hands of the mover and the waiter."""
    size = len(cards) // 2
    (*mine, boost), (*theirs, others_boost) = cards[:size], cards[size:]
    mover, waiter = best_of_seven(mine, boost), best_of_seven(theirs, others_boost)
    return {"hand": (ranked(mover), ranked(waiter))}


PACK = Pack(16, compared, read=cards_shown)
"""The cards of both players, which come out of hashes."""

VALIDATORS = by_name(
    Validator("commitA", commit_a, CommitA.form),
    Validator("commitB", commit_b, CommitB.form),
    Validator("begin_round", begin_round, BeginRound.form),
    Validator("mid_round", mid_round, MidRound.form, unread=(0, 32)),
    Validator("end", end, End.form),
)
"""The validators by name, in the order of play."""
