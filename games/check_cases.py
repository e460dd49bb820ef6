"""Cases of checks that several games have: hands in an order, and values to be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import permutations

from channelsim.clsp.values import Value, int_to_atom, to_list
from channelsim.games.chance import Chance
from channelsim.games.counting import HandValue
from channelsim.games.lemma import Case


def value_list(numbers: Iterable[int]) -> Value:
    """Numbers as a CLVM list.

    >>> value_list((1, 0))
    (b'\\x01', (b'', b''))
    """
    return to_list([int_to_atom(number) for number in numbers])


@cache
def _orders(size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(permutations(range(size)))


def in_an_order(cards: Sequence[int], chance: Chance) -> tuple[int, ...]:
    """A few cards in an order that is drawn."""
    return tuple(cards[at] for at in chance.pick(_orders(len(cards))))


def compared_values(values: Sequence[HandValue], chance: Chance) -> Iterator[Case]:
    """Pairs of ascending values without end, and which is the better one: 1, 0 or -1.

    Every second pair are equal, or next to each other.
    """
    lists = [value_list(value) for value in values]
    last = len(values) - 1
    while True:
        first = chance.below(last + 1)
        near = min(max(first + chance.between(-1, 1), 0), last)
        for second in (near, chance.below(last + 1)):
            order = (first > second) - (second > first)
            yield (lists[first], lists[second]), int_to_atom(order)
