"""Bytes of every signed state, each as its difference from the state before it.

They rebuild a peer's history with all that the chain, the rules and the seats need. Proposals are
not in them: only the newest two states have any, and the snapshot holds those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TypeAlias

import msgspec
from msgspec.structs import astuple

from channelsim.channel.errors import InvariantError
from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.state import (
    ChannelState,
    LiveGame,
    Predecessor,
    Side,
    StateOnChain,
)
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.clsp.values import deserialize, serialize
from channelsim.games import registry
from channelsim.games.contract import Position, Seat, Terms
from channelsim.games.judge import hashes_of
from channelsim.games.referee import GameCoin


class _Begun(msgspec.Struct, frozen=True, array_like=True):
    game_id: int
    terms: Terms
    alice: int
    coin: GameCoin
    validator: str
    state: bytes


class _Moved(msgspec.Struct, frozen=True, array_like=True):
    game_id: int
    validator: str | None
    state: bytes
    share: int
    max_move_size: int
    move: bytes
    commitment: bytes
    memory: bytes


_Signed: TypeAlias = tuple[bytes, bytes, bytes, bytes, bytes, bytes]
"""Both half-signatures of a state, and the fields of its `StateOnChain`: computing these hashes
anew would take most of the time of a restart."""


class _Row(msgspec.Struct, frozen=True, array_like=True):
    number: int
    balances: tuple[int, int]
    next_ids: tuple[int, int]
    signed: _Signed | None
    begun: tuple[_Begun, ...] = ()
    moved: tuple[_Moved, ...] = ()
    ended: tuple[int, ...] = ()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Row)


def encode_newer(history: StateHistory, count: int) -> list[bytes]:
    """Encode all states but the oldest `count`, oldest first."""
    links = [*takewhile(lambda link: link.state.number >= count, history)]
    return [encode_link(link) for link in reversed(links)]


def encode_link(link: StateHistory) -> bytes:
    """Encode a state by its difference from the state before it."""
    state, older = link.state, link.older
    before = {game.id: game for game in older.state.games} if older else {}
    begun: list[_Begun] = []
    moved: list[_Moved] = []
    for game in state.games:
        was = before.pop(game.id, None)
        if was is None:
            was = _first(game)
            begun.append(_begun(was))
        if game.coin != was.coin:
            moved.append(_moved(was, game))
    row = _Row(
        state.number,
        state.balances,
        state.next_ids,
        (*link.signed.halves, *astuple(link.signed.on_chain)) if link.signed else None,
        tuple(begun),
        tuple(moved),
        tuple(before),
    )
    return _encoder.encode(row)


def decode_history(rows: Iterable[bytes]) -> StateHistory:
    """Rebuild the history from all states, oldest first.

    Raises `msgspec.DecodeError`, or ValueError, for bytes that `encode_link` did not make.
    """
    history: StateHistory | None = None
    games: dict[int, LiveGame] = {}
    for number, data in enumerate(rows):
        row = _decoder.decode(data)
        if row.number != number:
            raise msgspec.DecodeError(f"state {row.number} where state {number} is expected")
        _apply(games, row)
        live = tuple(games[game_id] for game_id in sorted(games))
        state = ChannelState(row.number, row.balances, live, (), row.next_ids)
        signed = None
        if row.signed is not None:
            signed = SignedState(state, StateOnChain(*row.signed[2:]), row.signed[:2])
        history = StateHistory(state, signed, history)
    if history is None:
        raise msgspec.DecodeError("no state is stored")
    return history


def path(history: StateHistory, game_id: int) -> Iterator[tuple[int, LiveGame]]:
    """A live game after each of its moves, with the numbers of the states.

    Its first coin is not among them.
    """
    found: list[tuple[int, LiveGame]] = []
    for link in history:
        game = link.state.game(game_id)
        if game is None:
            break
        found.append((link.state.number, game))
    coin = None
    for number, game in reversed(found):
        if game.coin != coin and game.before is not None:
            yield number, game
        coin = game.coin


def _first(game: LiveGame) -> LiveGame:
    """The game at its first coin; a game may begin and move in one batch."""
    before = game.before
    if before is None:
        return game
    if before.position.move:
        raise InvariantError(f"game {game.id} appeared after its first move")
    return LiveGame(game.id, game.terms, game.alice, before.coin, before.position, None)


def _begun(game: LiveGame) -> _Begun:
    validator, state = _state_of(game.position)
    return _Begun(game.id, game.terms, game.alice, game.coin, validator or "", state)


def _moved(was: LiveGame, game: LiveGame) -> _Moved:
    before, position, coin = game.before, game.position, game.coin
    if before is None or before.coin != was.coin:
        raise InvariantError(f"game {game.id} made more than one move in a batch")
    validator, state = _state_of(position)
    return _Moved(
        game.id,
        validator,
        state,
        position.mover_share,
        coin.max_move_size,
        position.move,
        coin.infohash_b,
        game.memory,
    )


def _state_of(position: Position) -> tuple[str | None, bytes]:
    if position.validator is None or position.state is None:
        return None, b""
    return position.validator, serialize(position.state.value())


def _apply(games: dict[int, LiveGame], row: _Row) -> None:
    for game_id in row.ended:
        if games.pop(game_id, None) is None:
            raise msgspec.DecodeError(f"game {game_id} ended and was not live")
    for new in row.begun:
        position = _position(
            new.terms,
            new.validator,
            new.state,
            Seat.ALICE,
            new.coin.mover_share,
            new.coin.max_move_size,
            b"",
        )
        games[new.game_id] = LiveGame(
            new.game_id, new.terms, Side(new.alice), new.coin, position, None
        )
    for moved in row.moved:
        was = games.get(moved.game_id)
        if was is None:
            raise msgspec.DecodeError(f"a move in game {moved.game_id}, which is not live")
        position = _position(
            was.terms,
            moved.validator,
            moved.state,
            was.position.mover.other,
            moved.share,
            moved.max_move_size,
            moved.move,
        )
        coin = was.coin.after(moved.move, moved.commitment, moved.share, moved.max_move_size)
        games[was.id] = LiveGame(
            was.id,
            was.terms,
            was.alice,
            coin,
            position,
            Predecessor(was.position, was.coin),
            moved.memory,
        )


def _position(
    terms: Terms,
    validator: str | None,
    state: bytes,
    mover: Seat,
    share: int,
    size: int,
    move: bytes,
) -> Position:
    if validator is None:
        return Position(None, None, mover, share, size, move)
    game = registry.get(terms.game)
    if validator not in game.validators:
        raise msgspec.DecodeError(f"{terms.game} has no validator {validator!r}")
    read = game.validators[validator].read_state
    typed = read(deserialize(state), hashes_of(game))
    return Position(validator, typed, mover, share, size, move)
