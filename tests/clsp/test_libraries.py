"""The Chialisp libraries that games share, each by itself."""

from collections import Counter
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod
from pathlib import Path
from random import Random

from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import Program
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import Value, atom_to_int, from_list, int_to_atom, to_list

Hand = tuple[int, ...]

CLASSES = {
    "high card": ((1, 1, 1, 1, 1), 153_360),
    "pair": ((2, 1, 1, 1), 171_600),
    "two pair": ((2, 2, 1), 25_740),
    "set": ((3, 1, 1), 17_160),
    "full house": ((3, 2), 1_560),
    "straight": ((3, 3), 1_080),
    "four of a kind": ((4, 1), 780),
    "five of a kind": ((5,), 13),
}
"""The counts that a value begins with, and in how many of 13^5 deals."""


@cache
def compiled(name: str) -> Program:
    return compile_source(Path(__file__).parent / "sources" / f"{name}.clsp")


def numbers(value: Value) -> list[int]:
    atoms = [item for item in from_list(value) if isinstance(item, bytes)]
    return [atom_to_int(atom) for atom in atoms]


def list_of(items: list[int] | Hand) -> Value:
    return to_list(int_to_atom(item) for item in items)


def value_of(ranks: Hand, boost: int) -> list[int]:
    """The rule text again, in Python's own words."""
    counts = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    if len(counts) == 5 and counts[0][1] - counts[4][1] == 4:
        return [3, 3, boost, counts[0][1]]
    return [count for count, _ in counts] + [boost] + [rank for _, rank in counts]


def all_hands() -> list[Hand]:
    return list(combinations_with_replacement(range(2, 15), 5))


def values_of(hands: list[Hand], boost: int) -> list[list[int]]:
    listed = to_list((int_to_atom(boost), list_of(hand)) for hand in hands)
    return [numbers(value) for value in from_list(evaluate(compiled("hand_values"), (listed, b"")))]


def test_every_mask_is_counted_and_read_as_an_unsigned_byte() -> None:
    masks = [bytes([mask]) for mask in range(256)]
    items = [b"item%d" % at for at in range(8)]
    args = to_list([to_list(masks), to_list(items)])
    for mask, read in enumerate(from_list(evaluate(compiled("masks"), args))):
        count, *selected = from_list(read)
        assert count == int_to_atom(mask.bit_count())
        assert selected == [item for at, item in enumerate(items) if mask >> at & 1]


def test_bits_beyond_the_items_select_nothing() -> None:
    args = to_list([to_list([b"\xff"]), to_list([b"a", b"b"])])
    assert from_list(evaluate(compiled("masks"), args)) == [(b"\x08", to_list([b"a", b"b"]))]


def test_every_hand_has_its_value_and_every_class_its_odds() -> None:
    hands = all_hands()
    found = values_of(hands, 0)
    assert found == [value_of(hand, 0) for hand in hands]
    assert len(set(map(tuple, found))) == 6_188
    deals: Counter[tuple[int, ...]] = Counter()
    for hand, value in zip(hands, found, strict=True):
        orders = factorial(5) // prod(factorial(hand.count(rank)) for rank in set(hand))
        deals[tuple(value[: value.index(0)])] += orders
    assert dict(deals) == dict(CLASSES.values())


def test_the_order_of_the_cards_does_not_matter() -> None:
    random = Random(1)
    hands = [tuple(random.sample(hand, 5)) for hand in random.sample(all_hands(), 1000)]
    assert values_of(hands, 1) == [value_of(hand, 1) for hand in hands]


def test_an_ace_below_a_two_makes_no_straight() -> None:
    assert values_of([(14, 2, 3, 4, 5)], 0) == [[1, 1, 1, 1, 1, 0, 14, 5, 4, 3, 2]]


def test_values_are_compared_by_their_first_difference() -> None:
    random = Random(2)
    hands = random.sample(all_hands(), 150)
    found = values_of(hands, 0) + values_of(hands, 1)
    pairs = [(ours, theirs) for ours in found for theirs in random.sample(found, 20)]
    pairs += [(value, value) for value in found]
    args = (to_list((list_of(ours), list_of(theirs)) for ours, theirs in pairs), b"")
    for (ours, theirs), order in zip(
        pairs, numbers(evaluate(compiled("compare"), args)), strict=True
    ):
        assert order == (ours > theirs) - (ours < theirs), (ours, theirs)


def test_two_ascending_lists_become_one() -> None:
    random = Random(3)
    pairs = []
    for _ in range(300):
        numbers_of = [sorted(random.choices(range(300), k=random.randrange(9))) for _ in range(2)]
        pairs.append((numbers_of[0], numbers_of[1]))
    listed = to_list((list_of(ours), list_of(theirs)) for ours, theirs in pairs)
    merged = from_list(evaluate(compiled("merge"), (listed, b"")))
    assert [numbers(one) for one in merged] == [sorted(ours + theirs) for ours, theirs in pairs]


def suited_value_of(cards: Hand) -> list[int]:
    """California Poker's rule text, in Python's own words."""
    ranks = [2 + card // 4 for card in cards]
    counts = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    flush = len({card % 4 for card in cards}) == 1
    high = 0
    if len(counts) == 5:
        high = counts[0][1] if counts[0][1] - counts[4][1] == 4 else 0
        high = 5 if set(ranks) == {14, 2, 3, 4, 5} else high
    if high:
        return [5, high] if flush else [3, 1, 2, high]
    start = [3, 1, 3] if flush else [count for count, _ in counts]
    return start + [rank for _, rank in counts]


def test_every_kind_of_suited_hand_has_its_value() -> None:
    """All ranks in one suit and in two, and anything else by chance."""
    random = Random(4)
    hands: list[Hand] = []
    for ranks in all_hands():
        suits = [ranks[:i].count(rank) for i, rank in enumerate(ranks)]
        if max(suits) < 4:
            cards = [4 * (rank - 2) + suit for rank, suit in zip(ranks, suits, strict=True)]
            hands.append(tuple(random.sample(cards, 5)))
            if max(suits) == 0:
                hands.append((*cards[:4], cards[4] + 1))
    hands += [tuple(random.sample(range(52), 5)) for _ in range(3000)]
    found = evaluate(compiled("suited_values"), (to_list(map(list_of, hands)), b""))
    values = [numbers(value) for value in from_list(found)]
    assert values == [suited_value_of(hand) for hand in hands]
    assert len(set(map(tuple, values))) == 7_462
