"""The rules of California Poker: one judge for each of the five kinds of move.

The same rules as programs, with the same names, are `clsp/source/calpoker/<validator>.clsp`.
Source: spec/calpoker.md, "Validators".
Every judge checks the shape first, then the rules that need no evidence, then the evidence, and
answers with the id of the first rule that is broken.

Alice makes the moves of a, c and e, Bob those of b and d. `share` (MOVER_SHARE) is the
**opponent's** of the player that makes the move: what it is paid if it never answers. Before the
reveal no rule reads it (honest play declares 0). In a state, `commit` and `discard_commit` are
Alice's, `seed` and `bob_mask` are Bob's.
"""

from __future__ import annotations

from hashlib import sha256

from channelsim.clsp.values import Value
from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, Hands, deal, final_hands
from channelsim.games.calpoker.hands import (
    FIVE_OF_EIGHT,
    selection_text,
    value_of_selection,
)
from channelsim.games.calpoker.states import StateA, StateB, StateC, StateD, StateE
from channelsim.games.contract import (
    Hashes,
    Next,
    Raise,
    Rank,
    Slash,
    State,
    Valid,
    Validator,
    Verdict,
    by_name,
)
from channelsim.games.counting import ranked, read_mask

COMMIT_SIZE = 32
"""Size of Alice's commitment to her preimage."""

SEED_SIZE = 16
"""Size of Bob's seed, and of Alice's preimage."""

OPENING_SIZE = 48
"""Size of a preimage, and the commitment to a salt and a mask."""

MASK_SIZE = 1

REVEAL_SIZE = 18
"""Size of a salt, a mask and a selection."""


def judge_a(
    state: StateA, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits to her half of the entropy. MOVE is the hash of her preimage."""
    if len(move) != COMMIT_SIZE:
        return Slash("CP-A-1")
    return Valid(Next("b", StateB(move), SEED_SIZE))


def judge_b(
    state: StateB, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob sends his half of the entropy. MOVE is his seed."""
    if len(move) != SEED_SIZE:
        return Slash("CP-B-1")
    return Valid(Next("c", StateC(state.commit, move), OPENING_SIZE))


def judge_c(
    state: StateC, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice reveals her half of the entropy, and commits to the four cards that she gives away.

    MOVE is her preimage and that commitment.
    """
    if len(move) != OPENING_SIZE:
        return Slash("CP-C-1")
    preimage = move[:16]
    if sha256(preimage).digest() != state.commit:
        return Slash("CP-C-2")
    alice, bob = deal(preimage, state.seed, amount)
    return Valid(Next("d", StateD(move[16:], alice, bob), MASK_SIZE))


def judge_d(
    state: StateD, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob gives four of his cards away. MOVE is his mask."""
    if len(move) != MASK_SIZE:
        return Slash("CP-D-1")
    mask = move[0]
    if mask not in FOUR_OF_EIGHT:
        return Slash("CP-D-2")
    revealing = StateE(mask, state.alice_cards, state.bob_cards, state.discard_commit)
    return Valid(Next("e", revealing, REVEAL_SIZE))


def judge_e(
    state: StateE, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice opens her discards, both swap, and she shows her best five. It ends the game.

    MOVE is her salt, her mask and her selection of the eight cards that she holds then; the
    evidence is Bob's selection of his. The share is Bob's.
    """
    if len(move) != REVEAL_SIZE:
        return Slash("CP-E-1")
    alice_mask, selection = move[16], move[17]
    if alice_mask not in FOUR_OF_EIGHT:
        return Slash("CP-E-2")
    if selection not in FIVE_OF_EIGHT:
        return Slash("CP-E-3")
    if sha256(move[:17]).digest() != state.discard_commit:
        return Slash("CP-E-4")
    bob_selection = read_mask(evidence)
    if bob_selection not in FIVE_OF_EIGHT:
        return Raise("CP-E-5")
    hands = final_hands(state.hands, alice_mask, state.bob_mask)
    if share < bobs_share(amount, hands, selection, bob_selection):
        return Slash("CP-E-6")
    return Valid(None)


def bobs_share(amount: int, hands: Hands, selection: int, bob_selection: int) -> int:
    """Bob's share by both selections of the final hands: everything, half, or nothing."""
    alice = value_of_selection(hands[0], selection)
    bob = value_of_selection(hands[1], bob_selection)
    return amount * (1 + (bob > alice) - (bob < alice)) // 2


def showdown(state: State, move: bytes, evidence: Value) -> tuple[Rank, Rank] | None:
    """The ranks of the hands that `e` compares; None where it would compare none."""
    bob_selection = read_mask(evidence)
    if not isinstance(state, StateE) or len(move) != REVEAL_SIZE or bob_selection is None:
        return None
    if move[16] not in FOUR_OF_EIGHT or not {move[17], bob_selection} <= FIVE_OF_EIGHT:
        return None
    alice, bob = final_hands(state.hands, move[16], state.bob_mask)
    mine, theirs = value_of_selection(alice, move[17]), value_of_selection(bob, bob_selection)
    return ranked(mine), ranked(theirs)


def hands_shown(state: State, move: bytes, evidence: Value) -> tuple[str, str] | None:
    """The hands that `e` compares, by name with their five cards; None where it would compare
    none."""
    bob_selection = read_mask(evidence)
    if not isinstance(state, StateE) or bob_selection is None:
        return None
    if showdown(state, move, evidence) is None:
        return None
    alice, bob = final_hands(state.hands, move[16], state.bob_mask)
    return selection_text(alice, move[17]), selection_text(bob, bob_selection)


VALIDATORS = by_name(
    Validator("a", judge_a, StateA.form),
    Validator("b", judge_b, StateB.form),
    Validator("c", judge_c, StateC.form),
    Validator("d", judge_d, StateD.form),
    Validator("e", judge_e, StateE.form),
)
"""The validators by name, in the order of play."""
