"""The puzzle of an unroll coin, from public values: two keys' sum and the conditions of a state.

Source: spec/channel.md, "Coins".
"""

from __future__ import annotations

from collections.abc import Iterable

from channelsim.clsp.curry import curried_hash, curry
from channelsim.clsp.programs import Program, load
from channelsim.clsp.values import (
    Value,
    int_to_atom,
    list_of,
    tree_hash,
    tree_hash_pair,
)
from channelsim.games.referee import ASSERT_HEIGHT_RELATIVE, CREATE_COIN


def timeout_form(conditions: Value, unroll_timeout: int) -> Value:
    """The conditions of a timeout: those of the preemption after a relative time lock."""
    return list_of(ASSERT_HEIGHT_RELATIVE, unroll_timeout), conditions


def unroll_puzzle(
    unroll_key: bytes, unroll_timeout: int, number: int, conditions: Value
) -> Program:
    """The puzzle of the unroll coin of a state with these preemption conditions."""
    locked = tree_hash(timeout_form(conditions, unroll_timeout))
    return curry(load("channel/unroll"), unroll_key, int_to_atom(number), locked)


def unroll_puzzle_hash(
    unroll_key: bytes, unroll_timeout: int, number: int, conditions: bytes
) -> bytes:
    """The hash of that puzzle, by the tree hash of the conditions."""
    lock = list_of(ASSERT_HEIGHT_RELATIVE, unroll_timeout)
    locked = tree_hash_pair(tree_hash(lock), conditions)
    return curried_hash(
        load("channel/unroll").hash,
        tree_hash(unroll_key),
        tree_hash(int_to_atom(number)),
        tree_hash(locked),
    )


def paid_number(numbers: Iterable[int], published: int, *, timed_out: bool) -> int | None:
    """The number of the state that an unroll coin paid, of those that pay the coins it created.

    States that pay the same coins differ in their numbers alone, so each is as good as another.
    `timed_out`: the unroll coin of the `published` state was old enough for its timeout form.
    Otherwise the newest state counts that can preempt it (UNROLL-3, UNROLL-4). None: there is none.

    >>> paid_number([2, 3, 4, 5], 2, timed_out=True), paid_number([2, 3, 4, 5], 2, timed_out=False)
    (2, 5)
    >>> paid_number([0, 2, 4], 2, timed_out=False) is None
    True
    """
    candidates = set(numbers)
    if timed_out and published in candidates:
        return published
    preempting = (one for one in candidates if one > published and (one - published) % 2)
    return max(preempting, default=None)


def to_unroll(puzzle_hash: bytes, amount: int) -> Value:
    """The one condition of the channel coin's spend: create the unroll coin."""
    return list_of(list_of(CREATE_COIN, puzzle_hash, amount))
