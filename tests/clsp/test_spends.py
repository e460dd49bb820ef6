"""Real spends of both puzzles on an embedded full node, with real signatures."""

from dataclasses import dataclass, field, replace
from hashlib import sha256

import pytest
from chia_rs import AugSchemeMPL, G2Element, PrivateKey
from chia_wallet_sdk import Coin, CoinSpend, FullNodeSimulator, Signature, SpendBundle

from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list, tree_hash
from tests.clsp.coins import (
    CREATE_COIN,
    Game,
    condition,
    conditions_of,
    infohash,
    unroll,
    with_timeout,
)
from tests.clsp.helpers import validator

ALICE, BOB = (AugSchemeMPL.key_gen(bytes([seed]) * 32) for seed in (1, 2))
ALICES_ADDRESS, BOBS_ADDRESS = b"\x0a" * 32, b"\x0b" * 32
SUCCESS = "SUCCESS"
IMAGE = sha256(b"Alice's chain").digest()


def key(secret: PrivateKey) -> bytes:
    return bytes(secret.get_g1())


def payout_signature(secret: PrivateKey, address: bytes) -> G2Element:
    """Made once, at the opening of a channel: it authorises every payout to this address."""
    return AugSchemeMPL.sign(secret, b"x" + address)


@dataclass
class Node:
    """An embedded full node, and the few things that these tests do with it."""

    simulator: FullNodeSimulator = field(default_factory=lambda: FullNodeSimulator.with_seed(7))

    def coin(self, puzzle: Program, amount: int) -> Coin:
        self.simulator.farm_block(1)
        return self.simulator.new_coin(puzzle.hash, amount)

    def farm(self, blocks: int) -> None:
        self.simulator.farm_block(blocks)

    def push(self, coin: Coin, puzzle: Program, solution: Value, *signatures: G2Element) -> str:
        """SUCCESS, or why the node refuses the spend."""
        spend = CoinSpend(coin, puzzle.serialized, serialize(solution))
        signature = Signature.from_bytes(bytes(AugSchemeMPL.aggregate(list(signatures))))
        answer = self.simulator.push_tx(SpendBundle([spend], signature))
        return str(answer.error or answer.status).removeprefix("Validation error: ")

    def sign_me(self, secret: PrivateKey, message: bytes, coin: Coin) -> G2Element:
        suffix = self.simulator.get_aggsig_additional_data()
        return AugSchemeMPL.sign(secret, message + coin.coin_id() + suffix)

    def children(self, coin: Coin) -> list[tuple[bytes, int]]:
        """Mine what is pending; the puzzle hashes and amounts that the coin became."""
        self.farm(1)
        records = self.simulator.get_coin_records_by_parent_ids([coin.coin_id()]).coin_records
        assert records is not None
        return sorted((record.coin.puzzle_hash, record.coin.amount) for record in records)


@pytest.fixture
def node() -> Node:
    return Node()


def first_game() -> Game:
    """The first coin of a hand of Space Poker: it waits for Alice's commitA."""
    return Game(
        mover=key(ALICE),
        waiter=key(BOB),
        amount=200,
        move=NIL,
        max_move_size=b"\x20",
        infohash_b=infohash(validator("commitA"), int_to_atom(10)),
        share=0,
    )


def commit(share: int = 100, size: bytes = b"\x20") -> tuple[Game, Value]:
    """The game after Alice's commitA, and the solution that makes it."""
    infohash_c = infohash(validator("commitB"), to_list([int_to_atom(10), IMAGE]))
    after = first_game().after(IMAGE, infohash_c, share, size)
    return after, to_list([IMAGE, infohash_c, int_to_atom(share), size])


def slash_solution(address: bytes = BOBS_ADDRESS) -> Value:
    return to_list([int_to_atom(10), validator("commitA").value, NIL, address])


def test_a_move_is_played(node: Node) -> None:
    game = first_game()
    coin = node.coin(game.puzzle(), 200)
    after, solution = commit()
    signature = node.sign_me(ALICE, tree_hash(solution), coin)
    assert node.push(coin, game.puzzle(), solution, signature) == SUCCESS
    assert node.children(coin) == [(after.puzzle().hash, 200)]


def test_only_the_mover_can_move(node: Node) -> None:
    game = first_game()
    coin = node.coin(game.puzzle(), 200)
    _, solution = commit()
    other_move = commit(share=99)[1]
    for signature in (
        node.sign_me(BOB, tree_hash(solution), coin),
        node.sign_me(ALICE, tree_hash(other_move), coin),
        AugSchemeMPL.sign(ALICE, tree_hash(solution)),
    ):
        assert node.push(coin, game.puzzle(), solution, signature) == "BadAggregateSignature"


def test_a_move_comes_before_the_timeout_and_a_claim_after_it(node: Node) -> None:
    """No gap and no overlap: in every block exactly one of the two passes."""
    game = replace(first_game(), share=60)
    coin = node.coin(game.puzzle(), 200)
    _, solution = commit()
    move = node.sign_me(ALICE, tree_hash(solution), coin)
    claim = to_list([ALICES_ADDRESS, BOBS_ADDRESS])
    payouts = (payout_signature(ALICE, ALICES_ADDRESS), payout_signature(BOB, BOBS_ADDRESS))

    node.farm(game.timeout - 1)
    assert node.push(coin, game.puzzle(), claim, *payouts) == "AssertHeightRelativeFailed"
    node.farm(1)
    assert node.push(coin, game.puzzle(), solution, move) == "AssertBeforeHeightRelativeFailed"
    assert node.push(coin, game.puzzle(), claim, *payouts) == SUCCESS
    assert node.children(coin) == [(ALICES_ADDRESS, 60), (BOBS_ADDRESS, 140)]


def test_a_move_still_passes_in_the_last_block(node: Node) -> None:
    game = first_game()
    coin = node.coin(game.puzzle(), 200)
    after, solution = commit()
    node.farm(game.timeout - 1)
    signature = node.sign_me(ALICE, tree_hash(solution), coin)
    assert node.push(coin, game.puzzle(), solution, signature) == SUCCESS
    assert node.children(coin) == [(after.puzzle().hash, 200)]


def test_a_claim_goes_to_addresses_that_their_owners_signed(node: Node) -> None:
    game = replace(first_game(), share=60)
    coin = node.coin(game.puzzle(), 200)
    node.farm(game.timeout)
    elsewhere = to_list([ALICES_ADDRESS, ALICES_ADDRESS])
    signatures = (payout_signature(ALICE, ALICES_ADDRESS), payout_signature(BOB, BOBS_ADDRESS))
    assert node.push(coin, game.puzzle(), elsewhere, *signatures) == "BadAggregateSignature"


@pytest.mark.parametrize(("share", "size"), [(99, b"\x20"), (100, b"\x21")])
def test_a_cheat_is_slashed_at_once(node: Node, share: int, size: bytes) -> None:
    """A wrong share, and a wrong commitment with a right share."""
    game, _ = commit(share, size)
    coin = node.coin(game.puzzle(), 200)
    signature = payout_signature(BOB, BOBS_ADDRESS)
    assert node.push(coin, game.puzzle(), slash_solution(), signature) == SUCCESS
    assert node.children(coin) == [(BOBS_ADDRESS, 200)]


def test_an_honest_move_is_not_slashed(node: Node) -> None:
    game, _ = commit()
    coin = node.coin(game.puzzle(), 200)
    signature = payout_signature(BOB, BOBS_ADDRESS)
    assert node.push(coin, game.puzzle(), slash_solution(), signature) == "GeneratorRuntimeError"


def test_only_the_challenger_is_paid_by_a_slash(node: Node) -> None:
    game, _ = commit(share=99)
    coin = node.coin(game.puzzle(), 200)
    signature = payout_signature(ALICE, ALICES_ADDRESS)
    solution = slash_solution(ALICES_ADDRESS)
    assert node.push(coin, game.puzzle(), solution, signature) == "BadAggregateSignature"


# --- unroll ----------------------------------------------------------------------------------

SUM_KEY = ALICE.get_g1() + BOB.get_g1()
BALANCES = (
    condition(CREATE_COIN, ALICES_ADDRESS, int_to_atom(120)),
    condition(CREATE_COIN, BOBS_ADDRESS, int_to_atom(80)),
)
NEWER_BALANCES = (
    condition(CREATE_COIN, ALICES_ADDRESS, int_to_atom(20)),
    condition(CREATE_COIN, BOBS_ADDRESS, int_to_atom(180)),
)
TIMEOUT_FORM = with_timeout(15, conditions_of(4, *BALANCES))
UNROLL = unroll(bytes(SUM_KEY), 4, TIMEOUT_FORM)


def halves(conditions: Value) -> list[G2Element]:
    """Both players' half-signatures of a preemption, under the sum of their keys."""
    return [AugSchemeMPL.sign(secret, tree_hash(conditions), SUM_KEY) for secret in (ALICE, BOB)]


def test_an_unroll_pays_after_its_timeout(node: Node) -> None:
    coin = node.coin(UNROLL, 200)
    node.farm(14)
    assert node.push(coin, UNROLL, TIMEOUT_FORM) == "AssertHeightRelativeFailed"
    node.farm(1)
    assert node.push(coin, UNROLL, TIMEOUT_FORM) == SUCCESS
    assert node.children(coin) == [(ALICES_ADDRESS, 120), (BOBS_ADDRESS, 80)]


def test_an_old_unroll_is_preempted_at_once(node: Node) -> None:
    coin = node.coin(UNROLL, 200)
    newer = conditions_of(7, *NEWER_BALANCES)
    assert node.push(coin, UNROLL, newer, *halves(newer)) == SUCCESS
    assert node.children(coin) == [(ALICES_ADDRESS, 20), (BOBS_ADDRESS, 180)]


def test_a_preemption_needs_both_halves(node: Node) -> None:
    coin = node.coin(UNROLL, 200)
    newer = conditions_of(7, *NEWER_BALANCES)
    for half in halves(newer):
        assert node.push(coin, UNROLL, newer, half) == "BadAggregateSignature"
    other = conditions_of(9, *NEWER_BALANCES)
    assert node.push(coin, UNROLL, newer, *halves(other)) == "BadAggregateSignature"


@pytest.mark.parametrize("number", [2, 3, 4, 6])
def test_a_state_that_is_older_or_of_the_same_parity_preempts_nothing(
    node: Node, number: int
) -> None:
    coin = node.coin(UNROLL, 200)
    conditions = conditions_of(number, *NEWER_BALANCES)
    assert node.push(coin, UNROLL, conditions, *halves(conditions)) == "GeneratorRuntimeError"
