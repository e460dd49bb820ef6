"""Serialized record of every signed state, for the life of the channel.

A puzzle hash cannot be reversed. To recognise what appears on chain, a player needs each
state's number and conditions, and for every live game in it the eleven fields of its coin and
the validator and state behind INFOHASH_A. Source: spec/channel.md, "Going on chain".

A record holds only what its batch changed, so that the bytes stored for a batch grow with the
batch and not with the number of live games. `restore` rebuilds the complete states.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, TypeAlias

import msgspec

from channelsim.channel.chain.coins import REMARK, condition
from channelsim.channel.errors import InvariantError
from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.state import Channel, ChannelState, LiveGame
from channelsim.clsp.curry import curried_hash
from channelsim.clsp.integers import atom_to_int, int_to_atom
from channelsim.clsp.values import deserialize, serialize, to_list, tree_hash
from channelsim.games import registry
from channelsim.games.referee import CREATE_COIN, referee

FIELDS = 11
"""Fields of a game coin."""

StoredSlash: TypeAlias = tuple[int, bytes, bytes]
"""A game's id, and the evidence that its last move was illegal: its value, serialized, and its
signature."""


class GameRecord(msgspec.Struct, frozen=True):
    """A live game in a state: the eleven fields of its coin, and the move that it came from.

    `validator` (its tree hash) and `state` (serialized) are those behind INFOHASH_A, both
    empty on a first coin.
    """

    game_id: int
    game: str
    alice: int
    coin: Annotated[tuple[bytes, ...], msgspec.Meta(min_length=FIELDS, max_length=FIELDS)]
    validator: bytes
    state: bytes


class StateRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The difference between the state of this number and the state before it.

    `halves` are the counterparty's, empty for a state that we sent. `games` began or moved;
    `ended` are the ids of those that ended. `slashes` are of games whose last
    move was illegal.
    """

    number: int
    balances: tuple[int, int]
    unroll_puzzle_hash: bytes
    halves: tuple[bytes, ...] = ()
    games: tuple[GameRecord, ...] = ()
    ended: tuple[int, ...] = ()
    slashes: tuple[StoredSlash, ...] = ()


class RestoredState(msgspec.Struct, frozen=True):
    """A complete state, rebuilt from records: enough to publish, preempt, claim and slash.

    `conditions` are those of the preemption, serialized; `games` are all live games, by id.
    """

    number: int
    conditions: bytes
    unroll_puzzle_hash: bytes
    halves: tuple[bytes, ...]
    games: tuple[GameRecord, ...]
    slashes: tuple[StoredSlash, ...]


def encode_record(
    channel: Channel,
    state: ChannelState,
    *,
    games_before: tuple[LiveGame, ...],
    signed: SignedState | None,
    slashes: tuple[StoredSlash, ...] = (),
) -> bytes:
    """The record of a state that follows one with these games; `signed` if we received it."""
    on_chain = signed.on_chain if signed else channel.on_chain(state)
    before = {game.id: game for game in games_before}
    live = {game.id for game in state.games}
    record = StateRecord(
        number=state.number,
        balances=state.balances,
        unroll_puzzle_hash=on_chain.unroll_puzzle_hash,
        halves=signed.halves if signed else (),
        games=tuple(_game_record(game) for game in state.games if before.get(game.id) != game),
        ended=tuple(game_id for game_id in before if game_id not in live),
        slashes=slashes,
    )
    return msgspec.msgpack.encode(record)


def decode_record(record: bytes) -> StateRecord:
    """The record in these bytes, which we wrote. Raises `msgspec.DecodeError`."""
    try:
        return msgspec.msgpack.decode(record, type=StateRecord)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"the record is damaged: {error}") from None


def restore(channel: Channel, records: Iterable[bytes]) -> dict[int, RestoredState]:
    """Every state of a channel by number, from all its records in any order.

    Each state has to give the unroll coin that its record names. Raises `InvariantError` when a
    record is missing, and `msgspec.DecodeError` for a damaged one.
    """
    states: dict[int, RestoredState] = {}
    state = None
    for record in sorted(map(decode_record, records), key=lambda record: record.number):
        state = states[record.number] = apply_record(channel.rewards, state, record)
        conditions = deserialize(state.conditions)
        found = channel.unroll_puzzle_hash_of(state.number, tree_hash(conditions))
        if found != state.unroll_puzzle_hash:
            raise msgspec.DecodeError(
                f"the record of state {state.number} is damaged: it gives another unroll coin"
            )
    return states


def apply_record(
    rewards: tuple[bytes, bytes], before: RestoredState | None, record: StateRecord
) -> RestoredState:
    """The state of this record, which follows `before` (None: it is state 0).

    `rewards` are the reward addresses, the initiator's first.

    Raises `InvariantError` when it does not follow it.
    """
    expected = before.number + 1 if before else 0
    if record.number != expected:
        raise InvariantError(f"the record of state {expected} is missing")
    games = {game.game_id: game for game in before.games} if before else {}
    for game_id in record.ended:
        if games.pop(game_id, None) is None:
            raise InvariantError(f"game {game_id} ended in state {record.number} but was not live")
    games |= {game.game_id: game for game in record.games}
    live = tuple(games[game_id] for game_id in sorted(games))
    return RestoredState(
        number=record.number,
        conditions=_conditions(rewards, record, live),
        unroll_puzzle_hash=record.unroll_puzzle_hash,
        halves=record.halves,
        games=live,
        slashes=record.slashes,
    )


def _game_record(game: LiveGame) -> GameRecord:
    validator, state = b"", b""
    position = game.before.position if game.before is not None else None
    if position is not None and position.state is not None:
        validator = registry.get(game.terms.game).programs[position.validator or ""].hash
        state = serialize(position.state.value())
    return GameRecord(game.id, game.terms.game, game.alice, game.coin.atoms(), validator, state)


def _conditions(
    rewards: tuple[bytes, bytes], record: StateRecord, games: tuple[GameRecord, ...]
) -> bytes:
    """The preemption's conditions, serialized, as `Channel.preemption_conditions` has them."""
    balances = zip(rewards, record.balances, strict=True)
    coins = [(address, balance) for address, balance in balances if balance]
    coins += [(_puzzle_hash(game.coin), atom_to_int(game.coin[3])) for game in games]
    created = [condition(CREATE_COIN, address, int_to_atom(amount)) for address, amount in coins]
    return serialize(to_list((condition(REMARK, int_to_atom(record.number)), *created)))


@lru_cache(maxsize=1024)
def _puzzle_hash(coin: tuple[bytes, ...]) -> bytes:
    # Most games of a state are those of the state before it.
    return curried_hash(referee().hash, tree_hash(to_list(coin)))
