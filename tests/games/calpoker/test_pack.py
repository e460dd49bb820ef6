"""The reveal of California Poker with chosen cards."""

from __future__ import annotations

import pytest

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.games import registry
from channelsim.games.calpoker.deal import final_hands
from channelsim.games.calpoker.hands import best_of_eight
from channelsim.games.calpoker.pack import PACK, compared, stacked
from channelsim.games.calpoker.states import StateE
from channelsim.games.chance import Chance
from channelsim.games.contract import Slash
from channelsim.games.counting import ranked
from channelsim.games.judge import hashes_of
from channelsim.games.selfplay import PlayedMove, turns

GAME = registry.get("calpoker")
HASHES = hashes_of(GAME)


def reveal() -> PlayedMove:
    policy = next(iter(GAME.policies.values()))
    terms = GAME.terms(GAME.default_parameters(100, 10))
    hand = list(turns(GAME, HASHES, terms, (policy, policy), Chance(b"reveal")))
    return hand[-1]


@pytest.mark.parametrize("seed", range(20))
def test_both_hold_the_cards_that_were_asked_for(seed: int) -> None:
    turn, cards = reveal(), tuple(FastChance(bytes([seed])).shuffled(range(52))[:16])
    assert turn.before.state is not None
    place = stacked(turn.before.state, turn.play.move, cards)
    assert place is not None
    state, move = place
    assert isinstance(state, StateE)
    alice, bob = final_hands(state.hands, move[16], state.bob_mask)
    assert (set(alice), set(bob)) == (set(cards[:8]), set(cards[8:]))
    assert GAME.validators["e"].read_state(state.value(), HASHES) == state
    verdict = GAME.validators["e"].judge(state, move, turn.amount, turn.amount, b"\x1f", HASHES)
    assert not isinstance(verdict, Slash)  # the commitment opens
    assert compared(cards) == {"hand": (ranked(best_of_eight(alice)), ranked(best_of_eight(bob)))}


def test_nothing_is_stacked_before_the_reveal() -> None:
    policy = next(iter(GAME.policies.values()))
    terms = GAME.terms(GAME.default_parameters(100, 10))
    for turn in list(turns(GAME, HASHES, terms, (policy, policy), Chance(b"a")))[:-1]:
        assert turn.before.state is not None
        assert stacked(turn.before.state, turn.play.move, tuple(range(PACK.dealt))) is None
