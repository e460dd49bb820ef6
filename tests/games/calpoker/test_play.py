"""Whole hands: every move that honest players make is legal, and greed never pays."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.run import ProgramSlash
from channelsim.games.calpoker.deal import FOUR_OF_EIGHT
from channelsim.games.calpoker.hands import FIVE_OF_EIGHT
from channelsim.games.calpoker.result import hand_result
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Play, Slash, Valid
from channelsim.games.evidence import as_evidence
from channelsim.games.judge import hashes_of
from channelsim.games.selfplay import calls
from tests.games.calpoker.cal import GAME, deal_cards, giving, policy
from tests.games.table import Table, ask_both, ask_program
from tests.sampling import examples

policies = st.sampled_from(sorted(GAME.policies))
masks = st.sampled_from(sorted(FOUR_OF_EIGHT))
seeds = st.binary(max_size=8)


def play(seed: bytes, alice: str, bob: str, unit: int = 100) -> Table:
    table = deal_cards(seed, unit=unit)
    return table.play(policy(alice, seed + b"a"), policy(bob, seed + b"b"))


@given(seeds, st.sampled_from(["random", "greedy"]), st.sampled_from(["random", "greedy"]))
@examples(1)
def test_every_hand_is_legal_and_conserves(seed: bytes, alice: str, bob: str) -> None:
    # The table has each move judged by the rules and the program, with the loser's evidence.
    table = play(seed, alice, bob)
    end = hand_result(table.hand)
    assert table.payouts == {None: (1000, 1000), 0: (2000, 0), 1: (0, 2000)}[end.winner]
    assert play(seed, alice, bob).sent == table.sent


@given(seeds, masks, masks)
@examples(1)
def test_no_evidence_slashes_an_honest_reveal_and_greed_is_always_slashed(
    seed: bytes, mine: int, yours: int
) -> None:
    table = deal_cards(seed).until("e", giving(mine), giving(yours))
    before, amount = table.position, table.terms.amount
    alice, bob = table.players
    play = alice.act(Action("reveal"))
    assert isinstance(play, Play)
    for mask in FIVE_OF_EIGHT:
        verdict = ask_both(before, play.move, play.share, amount, bytes([mask]), GAME)
        assert verdict == Valid(None)
    (held,) = bob.evidence(before, play.move)
    evidence = as_evidence(held).value
    for mask, share in product(sorted(FIVE_OF_EIGHT)[::11], {play.share - 1, 0}):
        if 0 <= share < play.share:
            greedy = play.move[:17] + bytes([mask])
            outcome = ask_program(before, greedy, share, amount, evidence, GAME)
            assert isinstance(outcome, ProgramSlash)
            assert ask_both(before, greedy, share, amount, evidence, GAME) == Slash("CP-E-6")
    weakest = play.move[:17] + bytes([min(FIVE_OF_EIGHT)])
    assert ask_both(before, weakest, amount, amount, evidence, GAME) == Valid(None)


@pytest.mark.parametrize(("alice", "bob"), list(product(sorted(GAME.policies), repeat=2)))
def test_every_pair_of_policies_finishes(alice: str, bob: str) -> None:
    kinds = {hand_result(play(bytes([i]), alice, bob).hand).kind for i in range(6)}
    assert kinds <= {"showdown", "tie"}


def test_a_player_that_stops_before_the_reveal_loses_the_hand() -> None:
    """At each step, forced ones too: what settling there pays is the mover share of the coin."""
    terms = GAME.terms(GAME.default_parameters(100, 10))
    random = GAME.policies["random"]
    shares = {
        call.before.validator: call.before.mover_share
        for call in calls(GAME, hashes_of(GAME), terms, (random, random), Chance(b"stops"))
    }
    assert shares == {"a": 0, "b": 0, "c": 0, "d": 0, "e": 0}
