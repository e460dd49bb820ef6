"""The ways to play: legal, deterministic, and each as good as it says."""

from __future__ import annotations

from collections import Counter

import pytest

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, Hands, deal, final_hands, remaining
from channelsim.games.calpoker.hands import (
    FIVE_OF_EIGHT,
    best_of_eight,
    value_of,
    value_of_selection,
)
from channelsim.games.calpoker.policies import ANSWERS, best_response, discard_odds, keep_the_best
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Seat
from tests.games.calpoker.cal import GAME, cards_of, deal_cards, giving


def some_deals(count: int) -> list[Hands]:
    return [deal(number.to_bytes(16, "big"), b"the same seed 16", 2) for number in range(count)]


def test_random_picks_every_choice() -> None:
    player = deal_cards("random").until("c").players[0]
    chance = Chance(b"random")
    picked = Counter(GAME.policies["random"](player, chance) for _ in range(3500))
    assert {action.amount for action in picked} == FOUR_OF_EIGHT
    assert max(picked.values()) < 100


def test_forced_choices_are_taken() -> None:
    player = deal_cards("forced").players[0]
    for policy in GAME.policies.values():
        assert policy(player, Chance(b"")) == Action("commit")


@pytest.mark.parametrize("name", sorted(GAME.policies))
def test_both_seats_choose_among_their_own_cards(name: str) -> None:
    table = deal_cards("seats")
    for validator, seat in (("c", Seat.ALICE), ("d", Seat.BOB)):
        table.until(validator, giving(0x0F), giving(0x0F))
        hands = cards_of(table.players[seat]).hands
        assert hands is not None
        action = GAME.policies[name](table.players[seat], Chance(b"x"))
        assert action == GAME.policies[name](table.players[seat], Chance(b"x"))
        if name == "greedy":
            assert action.amount == keep_the_best(hands[seat])
        if name == "best-response":
            assert action.amount == best_response(hands[seat], hands[seat.other])
        table.players[seat].act(action)


def test_greedy_keeps_four_of_its_best_five() -> None:
    for own, _ in some_deals(200):
        keeping = set(remaining(own, keep_the_best(own)))
        fives = [
            {own[i] for i in range(8) if five >> i & 1}
            for five in FIVE_OF_EIGHT
            if value_of_selection(own, five) == best_of_eight(own)
        ]
        assert any(keeping <= five for five in fives)


@pytest.mark.parametrize(
    ("cards", "keeps"),
    [
        ((0, 1, 2, 3, 10, 20, 30, 40), {0, 1, 2, 3}),  # four of a kind
        ((0, 1, 2, 4, 5, 21, 30, 40), {0, 1, 2}),  # a full house: the set, and one of the pair
        ((0, 5, 8, 16, 24, 28, 37, 46), {8, 16, 24, 28}),  # a flush: its highest four
    ],
)
def test_greedy_keeps_what_counts(cards: tuple[int, ...], keeps: set[int]) -> None:
    assert keeps <= set(remaining(cards, keep_the_best(cards)))


def test_the_chances_are_exact() -> None:
    """Counted again, hand by hand, with the plain rule."""
    alice, bob = some_deals(1)[0]
    found = discard_odds(alice, bob)
    assert set(found) == FOUR_OF_EIGHT
    for mask in sorted(FOUR_OF_EIGHT)[::23]:
        wins = ties = 0
        for answer in FOUR_OF_EIGHT:
            mine, yours = (_best(cards) for cards in final_hands((alice, bob), mask, answer))
            wins, ties = wins + (mine > yours), ties + (mine == yours)
        assert (found[mask].wins, found[mask].ties) == (wins, ties)


def _best(cards: tuple[int, ...]) -> tuple[int, ...]:
    picked = ([cards[i] for i in range(8) if five >> i & 1] for five in FIVE_OF_EIGHT)
    return max(value_of(five) for five in picked)


def test_best_response_wins_most_against_a_uniform_choice() -> None:
    """No choice is better in any deal; over deals it is clearly better than the others."""
    totals: Counter[str] = Counter()
    deals = some_deals(15)
    chance = Chance(b"who wins")
    for own, others in deals:
        known = discard_odds(own, others)
        best = known[best_response(own, others)]
        assert best.wins == max(found.wins for found in known.values())
        totals["best-response"] += best.wins
        totals["greedy"] += known[keep_the_best(own)].wins
        totals["random"] += known[chance.pick(sorted(known))].wins
    assert totals["best-response"] > totals["greedy"] > totals["random"]
    assert totals["best-response"] > 0.7 * ANSWERS * len(deals)


def test_the_estimate_is_shown_with_its_error() -> None:
    player = deal_cards("shown").until("c").players[0]
    text = "\n".join("".join(part for part, _ in line) for line in GAME.story.view(player))
    assert "hint         give away " in text
    assert " of 70 answers, error 0)" in text
