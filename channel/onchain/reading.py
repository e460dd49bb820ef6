"""What a spend did, read from its solution, as the chain gives it.

A puzzle hash cannot be turned back, but a solution says all: who moved, what, and to where.
The puzzles let nothing else through, so that what does not read as one of these is nothing
that we ever signed. Source: the state channel, "Coins"; the validator contract, "The referee".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from channel.state import Channel, ChannelState
from clsp.integers import atom_to_int, int_to_atom
from clsp.values import BadValue, Value, deserialize, tree_hash
from games.referee import GameCoin, RefereeRefusal


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The game coin paid both shares, to these addresses; empty for a share of nothing.

    Each player signs where its own share goes, and may name another address than the agreed one.
    """

    mover_address: bytes
    waiter_address: bytes


@dataclass(frozen=True, slots=True)
class Slashed:
    """The game coin paid everything to its mover, at this address."""

    address: bytes


@dataclass(frozen=True, slots=True)
class MovedTo:
    """The game coin became this one."""

    coin: GameCoin


GameSpend: TypeAlias = TimedOut | Slashed | MovedTo


@lru_cache(maxsize=4096)
def game_spend(coin: GameCoin, solution: bytes) -> GameSpend | None:
    """What the spend of a game coin did; None if no referee lets such a solution through."""
    match _value(solution):
        case (bytes(mover), (bytes(waiter), b"")):
            return TimedOut(mover, waiter)
        case (_, (tuple(), (_, (bytes(address), b"")))):
            return Slashed(address)
        case (bytes(move), (bytes(commitment), (bytes(share), (bytes(size), b"")))):
            try:
                return MovedTo(coin.after(move, commitment, atom_to_int(share), atom_to_int(size)))
            except RefereeRefusal:
                return None
        case _:
            return None


def channel_conditions(solution: bytes) -> bytes | None:
    """The tree hash of the conditions that the channel coin was spent with.

    Both sides sign only delegated puzzles `(q . conditions)`; what follows them in the
    solution is signed by nobody, and does nothing.
    """
    match _value(solution):
        case (_, ((b"\x01", conditions), _)):
            return tree_hash(conditions)
        case _:
            return None


def unroll_number(channel: Channel, published: ChannelState, solution: bytes) -> int | None:
    """The number of the state that an unroll coin was spent to; its own if it timed out."""
    value = _value(solution)
    if value is None:
        return None
    if tree_hash(value) == tree_hash(channel.timeout_conditions(published)):
        return published.number
    match value:
        case ((b"\x01", (bytes(number), b"")), _) if number == int_to_atom(atom_to_int(number)):
            return atom_to_int(number)
        case _:
            return None


def pays(channel: Channel, state: ChannelState, solution: bytes) -> bool:
    """Whether these are the conditions of this state, as a preemption has them."""
    value = _value(solution)
    return value is not None and tree_hash(value) == channel.on_chain(state).unroll_message


def _value(solution: bytes) -> Value | None:
    try:
        return deserialize(solution)
    except BadValue:
        return None
