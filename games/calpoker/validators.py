"""The rules of California Poker: one judge for each of the five kinds of move.

Each follows the law of validators: shapes first, then the rules that need no evidence, each
answering with its id at the first fault; only then the evidence. `share` is what the
challenger gets; before the reveal the rules do not look at it (honest play declares 0).
`move` and `evidence` come from strangers and may be anything: no judge ever raises.
"""

from __future__ import annotations

from hashlib import sha256

from clsp.values import Value
from games.calpoker.deal import FOUR_OF_EIGHT, Hands, deal, final_hands
from games.calpoker.hands import FIVE_OF_EIGHT, value_of_selection
from games.calpoker.states import StateA, StateB, StateC, StateD, StateE
from games.contract import Hashes, Next, Raise, Slash, Valid, Validator, Verdict, by_name
from games.masks import read_mask

COMMIT_SIZE = 32
"""Alice's commitment to her preimage."""

SEED_SIZE = 16
"""Bob's seed; Alice's preimage is as long."""

OPENING_SIZE = 48
"""A preimage, and the commitment to a salt and a mask."""

MASK_SIZE = 1

REVEAL_SIZE = 18
"""A salt, a mask, a selection."""


def judge_a(
    state: StateA, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice commits to her preimage: MOVE is its hash."""
    if len(move) != COMMIT_SIZE:
        return Slash("CP-A-1")
    return Valid(Next("b", StateB(move), SEED_SIZE))


def judge_b(
    state: StateB, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Bob's seed: MOVE is his half of the entropy."""
    if len(move) != SEED_SIZE:
        return Slash("CP-B-1")
    return Valid(Next("c", StateC(state.commit, move), OPENING_SIZE))


def judge_c(
    state: StateC, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Alice opens hers: MOVE is her preimage, and her commitment to what she gives away."""
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
    """Bob gives four cards away: MOVE is his mask."""
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
    """Alice opens her discards: MOVE is her salt, her mask and her selection of the eight
    cards that she then holds; the evidence is Bob's selection of his. It ends the game."""
    if len(move) != REVEAL_SIZE:
        return Slash("CP-E-1")
    discards, selection = move[16], move[17]
    if discards not in FOUR_OF_EIGHT:
        return Slash("CP-E-2")
    if selection not in FIVE_OF_EIGHT:
        return Slash("CP-E-3")
    if sha256(move[:17]).digest() != state.discard_commit:
        return Slash("CP-E-4")
    answer = read_mask(evidence)
    if answer not in FIVE_OF_EIGHT:
        return Raise("CP-E-5")
    hands = final_hands(state.hands, discards, state.bob_mask)
    if share < bobs_share(amount, hands, selection, answer):
        return Slash("CP-E-6")
    return Valid(None)


def bobs_share(amount: int, hands: Hands, alices: int, bobs: int) -> int:
    """What Bob gets, by both selections of the final hands: everything, half, or nothing."""
    mine = value_of_selection(hands[0], alices)
    yours = value_of_selection(hands[1], bobs)
    return amount * (1 + (yours > mine) - (yours < mine)) // 2


VALIDATORS = by_name(
    Validator("a", judge_a, StateA.read),
    Validator("b", judge_b, StateB.read),
    Validator("c", judge_c, StateC.read),
    Validator("d", judge_d, StateD.read),
    Validator("e", judge_e, StateE.read),
)
"""By name, in the order of play."""
