"""Parse solutions from the chain: the move, slash or timeout of a game, the state of an unroll.

A puzzle hash cannot be reversed, but a solution shows who moved, what, and to which coin. The
puzzles accept nothing else, so we never signed a spend that does not parse. A solution may be
larger than memory when written out; it is read lazily, within limits.
Source: spec/channel.md, "Coins"; spec/referee.md, "Move".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import msgspec
from chia_rs import LazyNode

from channelsim.channel.protocol.state import Channel, ChannelState
from channelsim.clsp.run import TooLarge, items, read_node, to_value
from channelsim.clsp.values import BadValue, NotAList, Value, atom_to_int, is_minimal, tree_hash
from channelsim.games.referee import GameCoin, RefereeRefusal


class TimedOut(msgspec.Struct, frozen=True):
    """The game coin paid both shares, to these addresses; empty for a share of nothing.

    Each player signs where its own share goes, and may name another address than the agreed one.
    """

    mover_address: bytes
    waiter_address: bytes


class Slashed(msgspec.Struct, frozen=True):
    """The game coin paid everything to its mover, at this address."""

    address: bytes


class MovedTo(msgspec.Struct, frozen=True):
    """The game coin became this one."""

    coin: GameCoin


MAX_ITEMS = 4
"""Items of a game coin's solution: a move or a slash."""

MAX_PAIRS = 1024
MAX_CONDITION_BYTES = 1 << 14
"""Limits on conditions that we sign, in pairs and bytes; a state with 100 games fits."""

MAX_WALLET_CONDITIONS = 1024
"""Conditions of a fee's spend: one for each spend that it pays for, and two more."""

MAX_NUMBER = 9
"""Bytes of an amount, or of the number of a state."""

GameSpend: TypeAlias = TimedOut | Slashed | MovedTo


@lru_cache(maxsize=256)
def game_spend(coin: GameCoin, solution: bytes) -> GameSpend | None:
    """Parse the spend of a game coin; None if the referee would refuse this solution."""
    try:
        atoms = [item.atom for item in items(read_node(solution), MAX_ITEMS)]
    except (BadValue, NotAList, TooLarge):
        return None
    match atoms:
        case [bytes(mover), bytes(waiter)]:
            return TimedOut(mover, waiter)
        case [_, None, _, bytes(address)]:
            return Slashed(address)
        case [bytes(move), bytes(commitment), bytes(share), bytes(size)]:
            if max(len(share), len(size)) > MAX_NUMBER:
                return None
            try:
                return MovedTo(coin.after(move, commitment, atom_to_int(share), atom_to_int(size)))
            except RefereeRefusal:
                return None
        case _:
            return None


def channel_conditions(solution: bytes) -> bytes | None:
    """The tree hash of the conditions in a spend of the channel coin.

    Both sides sign only delegated puzzles `(q . conditions)`. The rest of the solution is
    unsigned and has no effect.
    """
    try:
        return tree_hash(to_value(_delegated(solution), MAX_PAIRS, MAX_CONDITION_BYTES))
    except (BadValue, TooLarge):
        return None


@lru_cache(maxsize=128)
def created_coins(solution: bytes) -> tuple[tuple[bytes, int], ...]:
    """The puzzle hashes and amounts of the coins that a wallet coin's spend created.

    Empty unless it is a spend of the standard puzzle, in the form in which we sign it.
    """
    try:
        return tuple(_created(_conditions(_delegated(solution))))
    except (BadValue, NotAList, TooLarge):
        return ()


@lru_cache(maxsize=128)
def reserved_fee(solution: bytes) -> int:
    """The fee that a wallet coin's spend reserves, in mojos; 0 for what `created_coins` refuses."""
    try:
        conditions = _conditions(_delegated(solution))
    except (BadValue, NotAList, TooLarge):
        return 0
    fees = (one[1] for one in conditions if len(one) == 2 and one[0] == b"\x34")
    return sum(atom_to_int(fee) for fee in fees if fee is not None and len(fee) <= MAX_NUMBER)


class PaidByUnroll(msgspec.Struct, frozen=True):
    """The number of the state that an unroll coin paid, and the coins, without knowing the state.

    `coins` are puzzle hashes and amounts, in order. `preempted`: not by the timeout.
    """

    number: int
    coins: tuple[tuple[bytes, int], ...]
    preempted: bool


def read_unroll(solution: bytes) -> PaidByUnroll | None:
    """Read the spend of any unroll coin; None for what no unroll puzzle lets through."""
    try:
        conditions = _conditions(read_node(solution))
    except (BadValue, NotAList, TooLarge):
        return None
    numbers = [one[1] for one in conditions if len(one) == 2 and one[0] == b"\x01"]
    if not numbers or numbers[0] is None or len(numbers[0]) > MAX_NUMBER:
        return None
    preempted = conditions[0][0] == b"\x01"
    return PaidByUnroll(atom_to_int(numbers[0]), tuple(_created(conditions)), preempted)


def _conditions(node: LazyNode) -> list[list[bytes | None]]:
    """The conditions in a list; an item that is a pair is None."""
    return [
        [item.atom for item in items(one, MAX_ITEMS)] for one in items(node, MAX_WALLET_CONDITIONS)
    ]


def _created(conditions: list[list[bytes | None]]) -> list[tuple[bytes, int]]:
    made: list[tuple[bytes, int]] = []
    for condition in conditions:
        match condition:
            case [b"\x33", bytes(address), bytes(amount), *_] if len(amount) <= MAX_NUMBER:
                made.append((address, atom_to_int(amount)))
            case _:
                pass
    return made


def unroll_number(channel: Channel, published: ChannelState, solution: bytes) -> int | None:
    """The number of the state that an unroll coin paid; its own if it timed out."""
    value = _value(solution)
    if value is None:
        return None
    if tree_hash(value) == tree_hash(channel.timeout_conditions(published)):
        return published.number
    match value:
        case ((b"\x01", (bytes(number), b"")), _) if len(number) <= MAX_NUMBER:
            return atom_to_int(number) if is_minimal(number) else None
        case _:
            return None


def unroll_conditions(solution: bytes) -> bytes | None:
    """The tree hash of an unroll coin's solution, a list of conditions; None if it is too large."""
    value = _value(solution)
    return None if value is None else tree_hash(value)


def pays(channel: Channel, state: ChannelState, solution: bytes) -> bool:
    """True if a preemption with this solution pays this state."""
    return unroll_conditions(solution) == channel.on_chain(state).unroll_message


def _value(solution: bytes) -> Value | None:
    try:
        return to_value(read_node(solution), MAX_PAIRS, MAX_CONDITION_BYTES)
    except (BadValue, TooLarge):
        return None


def _delegated(solution: bytes) -> LazyNode:
    """The conditions of `(() (q . conditions) ...)`. Raises `BadValue` for anything else."""
    _, rest = _pair(read_node(solution))
    delegated, _ = _pair(rest)
    quote, conditions = _pair(delegated)
    if quote.atom != b"\x01":
        raise BadValue("no quoted conditions")
    return conditions


def _pair(node: LazyNode) -> tuple[LazyNode, LazyNode]:
    if node.pair is None:
        raise BadValue("an atom where a pair belongs")
    return node.pair
