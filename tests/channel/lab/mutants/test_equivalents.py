"""Claims of the stored reasons on hand values and masks, tried on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations, combinations_with_replacement, pairwise

import pytest

from channelsim.channel.lab.mutants.expressions import Module, path
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.reasons import stored_reasons
from channelsim.channel.lab.mutants.report import all_mutants
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.operators import APPLY, CONS, QUOTE
from channelsim.clsp.programs import Program
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    deserialize,
    from_list,
    int_to_atom,
    serialize,
    to_list,
)
from channelsim.games import registry
from channelsim.games.counting import masks
from tests.channel.lab.mutants.subtrees import subtree

SPACE, CALIFORNIA = (of_game(registry.get(name)) for name in ("spacepoker", "calpoker"))
Calls = Callable[[Iterable[Value]], list[Value]]

TREE = "rrfrfr"
"""The way to the functions in `(a (q . MAIN) (c (q . FUNCTIONS) 1))`."""

BATCH = 400
"""So many calls are one run."""


def function(target: Target, validator: str, name: str, program: bytes | None = None) -> Calls:
    """A function of a validator, or of a mutant of it: results by lists of arguments."""
    original = target.programs[validator]
    found = Module(original.value, target.symbols[validator])
    start = next(at for at, called in found.bodies.items() if called.name == name)
    functions = subtree(deserialize(program or original.serialized), TREE)
    assert functions is not None
    runs = path("f" + start.removeprefix(TREE))

    def calls(arguments: Iterable[Value]) -> list[Value]:
        waiting, results = list(arguments), []
        for at in range(0, len(waiting), BATCH):
            # (c (a RUNS (c 2 (q . ARGUMENTS))) …), in the environment (FUNCTIONS).
            code: Value = NIL
            for one in reversed(waiting[at : at + BATCH]):
                environment = to_list((CONS, b"\x02", (QUOTE, one)))
                code = to_list((CONS, to_list((APPLY, runs, environment)), code))
            results += from_list(evaluate(Program(serialize(code)), (functions, NIL)))
        return results

    return calls


@cache
def argued(game: str, validator: str) -> list[Mutant]:
    target = of_game(registry.get(game))
    known = stored_reasons(target)
    every = all_mutants(target, validator)
    return [mutant for mutant in every if known.reason(mutant) is not None]


def claimed(target: Target, validator: str, *functions: str) -> list[Mutant]:
    every = argued(target.name, validator)
    return [mutant for mutant in every if mutant.function in functions]


def numbers(value: Value) -> tuple[int, ...]:
    return tuple(atom_to_int(atom) for atom in from_list(value) if isinstance(atom, bytes))


def in_one_order(values: Mapping[tuple[int, ...], set[tuple[int, ...]]]) -> bool:
    """True if the other values rise as these do: one for each, and each above the one before."""
    ordered = [values[key] for key in sorted(values)]
    assert all(len(others) == 1 for others in ordered)
    flat = [next(iter(others)) for others in ordered]
    return all(low < high for low, high in pairwise(flat))


def space_hands() -> Iterator[tuple[int, ...]]:
    """All hands of five ranks, in three orders of the cards."""
    for ranks in combinations_with_replacement(range(2, 15), 5):
        yield ranks
        yield ranks[::-1]
        yield ranks[2:] + ranks[:2]


def space_values(calls: Calls, hands: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    arguments = (to_list((to_list(map(int_to_atom, ranks)), b"\x01")) for ranks in hands)
    return [numbers(value) for value in calls(arguments)]


def by_value(
    values: Iterable[tuple[int, ...]], others: Iterable[tuple[int, ...]]
) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for value, other in zip(values, others, strict=True):
        found.setdefault(value, set()).add(other)
    return found


@cache
def values_in_space() -> list[tuple[int, ...]]:
    return space_values(function(SPACE, "end", "hand_value"), space_hands())


IN_SPACE = ("value_of_groups", "groups_of", "fields", "insert_group")


@pytest.mark.long
def test_hands_of_space_poker_are_in_one_order() -> None:
    for mutant in claimed(SPACE, "end", *IN_SPACE):
        calls = function(SPACE, "end", "hand_value", mutant.program)
        values = by_value(values_in_space(), space_values(calls, space_hands()))
        assert len(values) == 6188
        assert in_one_order(values), mutant


@pytest.mark.long
@pytest.mark.parametrize("more", [1, -1])
def test_ranks_of_space_poker_may_all_be_one_more_or_less(more: int) -> None:
    others = (tuple(rank + more for rank in ranks) for ranks in space_hands())
    calls = function(SPACE, "end", "hand_value")
    assert in_one_order(by_value(values_in_space(), space_values(calls, others)))


def california_hands() -> Iterator[tuple[int, ...]]:
    """Hands of five cards, ascending: of every set of ranks one of several suits, and, where
    the ranks differ, one of one suit. Nothing else of the suits is looked at."""
    for ranks in combinations_with_replacement(range(13), 5):
        suits = [ranks[:place].count(rank) for place, rank in enumerate(ranks)]
        if max(suits) > 3:
            continue
        if max(suits) == 0:
            yield tuple(4 * rank + 2 for rank in ranks)
            suits[0] = 1
        yield tuple(4 * rank + suit for rank, suit in zip(ranks, suits, strict=True))


def california_values(calls: Calls) -> list[tuple[int, ...]]:
    arguments = (to_list((to_list(map(int_to_atom, cards)),)) for cards in california_hands())
    return [numbers(value) for value in calls(arguments)]


@cache
def values_in_california() -> list[tuple[int, ...]]:
    return california_values(function(CALIFORNIA, "e", "hand_value"))


IN_CALIFORNIA = (
    *("value_of_groups", "straight_high", "groups_of", "is_flush", "insert_group", "fields"),
)


@pytest.mark.long
def test_hands_of_california_poker_are_in_one_order() -> None:
    values = values_in_california()
    assert len(values) == 6175 + 1287
    for mutant in claimed(CALIFORNIA, "e", *IN_CALIFORNIA):
        calls = function(CALIFORNIA, "e", "hand_value", mutant.program)
        assert in_one_order(by_value(values, california_values(calls))), mutant


@pytest.mark.long
def test_hand_values_that_begin_alike_end_together() -> None:
    for values in (set(values_in_space()), set(values_in_california())):
        beginnings = {value[:end] for value in values for end in range(len(value))}
        assert not beginnings & values


@pytest.mark.parametrize(
    ("target", "validator", "cards", "given"),
    [
        (SPACE, "end", 7, [bytes([mask]) for mask in masks(7, 5)]),
        # The complement of a byte, as `lognot` writes it, is a byte again or nothing.
        (CALIFORNIA, "e", 8, [bytes([mask]) for mask in (*masks(8, 4), *masks(8, 5))]),
    ],
    ids=["end", "e"],
)
def test_masks_select_the_same(
    target: Target, validator: str, cards: int, given: list[bytes]
) -> None:
    items = to_list([bytes([card]) for card in range(1, cards + 1)])
    right = function(target, validator, "select")
    wanted = right(to_list((mask, items)) for mask in given)
    found = claimed(target, validator, "select")
    assert len(found) == 3
    for mutant in found:
        calls = function(target, validator, "select", mutant.program)
        assert calls(to_list((mask, items)) for mask in given) == wanted
    # With the byte before it in front, as another `substr` cuts it.
    for before in BEFORE:
        assert right(to_list((before + mask, items)) for mask in given) == wanted


BEFORE = (b"\x00", b"\x7f", b"\x80", b"\xff")


def test_complements_select_the_same() -> None:
    mine = to_list([bytes([card]) for card in range(1, 9)])
    yours = to_list([bytes([card]) for card in range(9, 17)])

    def arguments(before: bytes) -> Iterator[Value]:
        for mask in masks(8, 4):
            yield to_list((before + bytes([mask]), mine, b"\x0f", yours))

    swapped = function(CALIFORNIA, "e", "swapped")
    wanted = swapped(arguments(b""))
    for before in BEFORE:
        assert swapped(arguments(before)) == wanted
    for mutant in claimed(CALIFORNIA, "e", "select", "swapped", "merge"):
        calls = function(CALIFORNIA, "e", "swapped", mutant.program)
        assert calls(arguments(b"")) == wanted


def test_merging_takes_either_order() -> None:
    pairs = [
        (ours, tuple(number for number in range(5) if number not in ours))
        for size in range(6)
        for ours in combinations(range(5), size)
    ]
    arguments = [
        to_list(to_list(map(int_to_atom, some)) for some in pair)
        for ours, theirs in pairs
        for pair in ((ours, theirs), (theirs, ours))
    ]
    wanted = [to_list(map(int_to_atom, range(5)))] * len(arguments)
    assert function(CALIFORNIA, "c", "merge")(arguments) == wanted
    for mutant in claimed(CALIFORNIA, "c", "merge"):
        assert function(CALIFORNIA, "c", "merge", mutant.program)(arguments) == wanted
