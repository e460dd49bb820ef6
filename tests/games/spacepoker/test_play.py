"""Whole hands: every move that honest players make is legal, and greed never pays."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelsim.clsp.run import ProgramSlash
from channelsim.games.contract import Action, Play, Seat, Slash, Valid
from channelsim.games.evidence import as_evidence
from channelsim.games.spacepoker.hands import FIVE_OF_SEVEN
from channelsim.games.spacepoker.result import hand_result
from tests.games.table import GAME, Table, ask_both, ask_program, by_policy, sit_down
from tests.sampling import examples

policies = st.sampled_from(sorted(GAME.policies))
seeds = st.binary(max_size=8)


def play(seed: bytes, alice: str, bob: str, unit: int = 100, stack: int = 10) -> Table:
    table = sit_down(seed, unit, stack)
    return table.play(by_policy(alice, seed + b"a"), by_policy(bob, seed + b"b"))


@given(seeds, policies, policies, st.integers(1, 300), st.integers(1, 30))
@examples(1)
def test_every_hand_is_legal_and_conserves(
    seed: bytes, alice: str, bob: str, unit: int, stack: int
) -> None:
    # The table has each move judged by the rules and the program, with the loser's evidence.
    table = play(seed, alice, bob, unit, stack)
    assert table.payouts is not None
    assert sum(table.payouts) == table.terms.amount
    assert min(table.payouts) >= 0
    end = hand_result(table.hand)
    if end.winner is None:
        assert end.kind == "tie"
        assert table.payouts[0] == table.payouts[1]
    else:
        assert table.payouts[end.winner] > table.payouts[end.winner.other]


@given(seeds, policies, policies)
@settings(deadline=None)
def test_the_same_seed_plays_the_same_bytes(seed: bytes, alice: str, bob: str) -> None:
    assert play(seed, alice, bob).sent == play(seed, alice, bob).sent


@given(seeds, st.sampled_from(["caller", "aggressive"]))
@examples(1)
def test_no_evidence_slashes_an_honest_showdown_and_greed_is_always_slashed(
    seed: bytes, policy: str
) -> None:
    table = sit_down(seed).until("end", by_policy(policy, seed), by_policy(policy, b"b" + seed))
    before, amount = table.position, table.terms.amount
    opener, challenger = table.players[before.mover], table.players[before.mover.other]
    play = opener.act(Action("show"))
    assert isinstance(play, Play)
    for mask in FIVE_OF_SEVEN:
        verdict = ask_both(before, play.move, play.share, amount, bytes([mask]))
        assert verdict == Valid(None)
    (held,) = challenger.evidence(before, play.move)
    evidence = as_evidence(held).value
    for mask, share in product(FIVE_OF_SEVEN, (play.share - 1, 0)):
        if 0 <= share < play.share:
            greedy = play.move[:16] + bytes([mask])
            outcome = ask_program(before, greedy, share, amount, evidence)
            assert isinstance(outcome, ProgramSlash)
            assert ask_both(before, greedy, share, amount, evidence) == Slash("SP-END-5")
    weakest = min(FIVE_OF_SEVEN)
    generous = ask_both(before, play.move[:16] + bytes([weakest]), amount, amount, evidence)
    assert generous == Valid(None)


@pytest.mark.parametrize(("alice", "bob"), list(product(sorted(GAME.policies), repeat=2)))
def test_every_pair_of_policies_finishes(alice: str, bob: str) -> None:
    kinds = {hand_result(play(bytes([i]), alice, bob).hand).kind for i in range(24)}
    assert kinds <= {"showdown", "tie", "fold"}
    if "folder" in (alice, bob):
        assert "fold" in kinds
    if (alice, bob) == ("caller", "caller"):
        assert "fold" not in kinds


def test_aggressive_players_end_all_in() -> None:
    hands = [play(bytes([i]), "aggressive", "aggressive") for i in range(20)]
    assert sum(hand.payouts in ((0, 2000), (2000, 0)) for hand in hands) > 10


def test_a_fold_leaves_the_raise_that_was_not_called() -> None:
    table = sit_down("s2").until("mid_round", by_policy("aggressive", "x"))
    assert table.position.mover is Seat.BOB
    assert table.position.mover_share == 900
