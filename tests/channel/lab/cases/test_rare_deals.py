"""Deals in which rare hands meet are found by small changes of others, and each is tried once."""

from __future__ import annotations

import pytest

from channelsim.channel.lab.cases.rare_deals import FIRST, LAST, NEXT, NOTHING, TOGETHER, RareDeals
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.games import registry
from channelsim.games.pack import Cards, Compared, Pack, Rank
from channelsim.games.poker.ranking import QUADS, STRAIGHT, STRAIGHT_FLUSH

HAND = "hand"


def rare(pack: Pack | None, seed: bytes = b"rare") -> RareDeals:
    assert pack is not None
    return RareDeals(pack, FastChance(seed))


def taken(deals: RareDeals, pack: Pack, count: int) -> list[Compared]:
    """What those deals compare that are wanted first, of so many."""
    found = []
    for _ in range(count):
        deals.look(100)
        took = deals.take()
        assert took is not None
        cards, names = took
        compared = pack.compared(cards)
        assert len(set(cards)) == pack.dealt
        assert set(names) <= set(compared)
        found.append(compared)
    return found


@pytest.mark.parametrize("game", [pytest.param("holdem", marks=pytest.mark.long), "calpoker"])
def test_a_straight_flush_meets_quads_and_straights_meet_wheels(game: str) -> None:
    pack = registry.get(game).pack
    assert pack is not None
    found = [compared[HAND] for compared in taken(rare(pack), pack, 220)]
    classes = {frozenset(rank[0] for rank in ranks) for ranks in found}
    best, quads, straight = (
        ((STRAIGHT_FLUSH,), (QUADS,), (STRAIGHT,))
        if game == "holdem"
        else ((5,), (4, 1), (3, 1, 2))
    )
    assert {frozenset((best, quads)), frozenset((best, straight)), frozenset((best,))} <= classes
    wheels = [
        ranks
        for ranks in found
        if {ranks[0][0], ranks[1][0]} == {straight}
        and sorted(rank[1][0] for rank in ranks)[0] == 5
        and ranks[0] != ranks[1]
    ]
    assert wheels


@pytest.mark.long
def test_ties_of_low_hands_go_together_with_high_hands_of_every_order() -> None:
    pack = registry.get("omaha8").pack
    assert pack is not None
    together = set()
    for compared in taken(rare(pack), pack, 30):
        if "low" in compared:
            (mine, theirs), (low, others_low) = compared[HAND], compared["low"]
            together.add(
                ((mine > theirs) - (mine < theirs), (low > others_low) - (low < others_low))
            )
    assert {(1, 0), (-1, 0)} & together
    assert {(0, 1), (0, -1)} & together


def parity(cards: Cards) -> Compared:
    """Two cards: each side has an even or an odd one, and the greater of two alike is better."""
    first, second = (((card % 2,), (card,)) for card in cards)
    return {"card": (first, second)}


def test_what_was_tried_is_wanted_no_more() -> None:
    deals = rare(Pack(2, parity, cards=4))
    cards = (0, 2)
    assert deals.take() is None
    assert deals.see(cards, parity(cards)) == FIRST
    assert deals.eager
    assert deals.take() == (cards, ("card",))
    deals.tried(parity(cards), ("card",))
    assert deals.see(cards, parity(cards)) == NOTHING
    # An odd card is better than an even one: first with a lower number, then with a greater one.
    assert deals.see((2, 1), parity((2, 1))) == FIRST
    assert deals.see((0, 1), parity((0, 1))) == NEXT
    # In the end nothing is left: of four cards there are twelve deals.
    for _ in range(40):
        deals.look(50)
        last = deals.take()
    assert last is None
    assert all(deals.see(pair, parity(pair)) == NOTHING for pair in ((3, 1), (2, 3), (0, 2)))


def test_only_the_comparisons_that_were_tried_count() -> None:
    def twice(cards: Cards) -> Compared:
        return {"one": parity(cards)["card"], "other": parity(cards)["card"]}

    deals = rare(Pack(2, twice, cards=4))
    cards = (0, 2)
    deals.see(cards, twice(cards))
    deals.tried(twice(cards), ("one",))
    assert deals.see(cards, twice(cards)) == FIRST
    for _ in range(TOGETHER - 1):
        deals.tried(twice(cards), ("one", "other"))
        assert deals.see(cards, twice(cards)) < LAST  # both together, several times
    deals.tried(twice(cards), ("one", "other"))
    assert deals.see(cards, twice(cards)) == NOTHING


def test_the_closest_hands_of_a_class_and_of_two_are_wanted_first() -> None:
    deals = rare(Pack(2, parity, cards=4))

    def wanted(mine: Rank, theirs: Rank) -> set[object]:
        return {
            some.what[-1]
            for some in deals.features({HAND: (mine, theirs)})
            if some.level == FIRST and some.names == (HAND,)
        }

    # Pairs from twos to aces, twos with a five, and the ends of two pairs.
    wanted(((1,), (2, 14)), ((1,), (14, 3)))
    wanted(((1,), (2, 5)), ((1,), (3, 4)))
    wanted(((2,), (3, 2)), ((2,), (14, 13)))
    assert "close" in wanted(((1,), (2, 14)), ((1,), (3, 4)))
    assert "close" in wanted(((2,), (3, 2)), ((1,), (14, 3)))
    assert "close" not in wanted(((1,), (2, 5)), ((1,), (3, 4)))  # not the greatest kicker
    assert "close" not in wanted(((1,), (2, 14)), ((1,), (4, 3)))  # not next to each other
    assert "close" not in wanted(((2,), (5, 2)), ((1,), (14, 3)))
