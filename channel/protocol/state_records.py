"""What is kept of every state, for the life of the channel, as bytes.

A puzzle hash cannot be turned back: to recognise what appears on chain, a player needs each
state's number and conditions, and for every live game in it the eleven fields of its coin and
what stands behind INFOHASH_A. Source: the state channel, "Going on chain".
"""

from __future__ import annotations

import msgspec

from channel.protocol.half_signed import Signed
from channel.protocol.state import Channel, ChannelState, LiveGame
from clsp.values import serialize
from games.contract import Hashes


class KeptGame(msgspec.Struct, frozen=True):
    """A live game in a kept state: its coin's fields, and the move that it came from.

    `validator` (its tree hash) and `state` (serialized) are those behind INFOHASH_A, both
    empty on a first coin.
    """

    game_id: int
    game: str
    alice: int
    coin: tuple[bytes, ...]
    validator: bytes
    state: bytes


class KeptState(msgspec.Struct, frozen=True):
    """A state as it was sent or received.

    `conditions` are those of the preemption, serialized; `halves` are the other side's, empty
    for a state that we sent; `slashes` are games with the evidence that their last move was
    illegal.
    """

    number: int
    conditions: bytes
    unroll_puzzle_hash: bytes
    halves: tuple[bytes, ...]
    games: tuple[KeptGame, ...]
    slashes: tuple[tuple[int, bytes], ...] = ()


def keep(
    channel: Channel,
    state: ChannelState,
    *,
    signed: Signed | None,
    hashes: dict[str, Hashes],
    slashes: tuple[tuple[int, bytes], ...] = (),
) -> bytes:
    """The record of a state; `signed` when it was received, `hashes` by game."""
    on_chain = signed.on_chain if signed else channel.on_chain(state)
    return msgspec.msgpack.encode(
        KeptState(
            number=state.number,
            conditions=serialize(channel.preemption_conditions(state)),
            unroll_puzzle_hash=on_chain.unroll_puzzle_hash,
            halves=signed.halves if signed else (),
            games=tuple(_keep_game(game, hashes) for game in state.games),
            slashes=slashes,
        )
    )


def read(record: bytes) -> KeptState:
    """The kept state in these bytes, which we wrote. Raises `msgspec.DecodeError`."""
    return msgspec.msgpack.decode(record, type=KeptState)


def _keep_game(game: LiveGame, hashes: dict[str, Hashes]) -> KeptGame:
    validator, state = b"", b""
    if game.before is not None and game.before.position.state is not None:
        position = game.before.position
        validator = hashes[game.terms.game][position.validator or ""]
        state = serialize(game.before.position.state.value())
    return KeptGame(game.id, game.terms.game, game.alice, game.coin.atoms(), validator, state)
