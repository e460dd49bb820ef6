"""Settlement on the node from the stored states and keys of a peer alone.

What a player finds on its disk has to be enough for everything that it may have to do.
"""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.chain.coins import Bundle, Coin, Spend, standard_spend
from channelsim.channel.chain.interface import Answer
from channelsim.channel.crypto import bls
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.state import Channel, LiveGame, Side
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.store.history_codec import decode_history, encode_newer
from channelsim.clsp.curry import curry
from channelsim.clsp.programs import Program, load
from channelsim.clsp.values import (
    Value,
    atom_to_int,
    deserialize,
    int_to_atom,
    serialize,
    to_list,
    tree_hash,
)
from channelsim.games.referee import (
    ASSERT_HEIGHT_RELATIVE,
    CREATE_COIN,
    referee,
)
from tests.channel.table import GAME, Cheat, Table


@dataclass(frozen=True)
class StoredGame:
    """A live game in a state: the eleven fields of its coin, and the move that it came from.

    `validator` (its tree hash) and `state` (serialized) are those behind INFOHASH_A, both empty on
    a first coin.
    """

    game_id: int
    coin: tuple[bytes, ...]
    validator: bytes
    state: bytes


@dataclass(frozen=True)
class StoredState:
    """A state as a store has it: the preemption's conditions, serialized, and the other halves."""

    number: int
    conditions: bytes
    unroll_puzzle_hash: bytes
    halves: tuple[bytes, ...]
    games: tuple[StoredGame, ...]


def stored_history(table: Table, index: int) -> StateHistory:
    """The states of a side, read back from what its store has of them."""
    return decode_history(encode_newer(table.ends[index].play.history, 0))


def received_states(table: Table, index: int) -> list[int]:
    """The numbers of the states that a side can complete, oldest first."""
    return sorted(link.state.number for link in stored_history(table, index) if link.signed)


def restored_state(table: Table, index: int, number: int, received: bool = True) -> StoredState:
    """A state that this side sent or received, restored from its store."""
    link = next(one for one in stored_history(table, index) if one.state.number == number)
    assert (link.signed is not None) is received
    channel, state = table.channel, link.state
    return StoredState(
        number,
        serialize(channel.preemption_conditions(state)),
        channel.on_chain(state).unroll_puzzle_hash,
        link.signed.halves if link.signed else (),
        tuple(map(_stored_game, state.games)),
    )


def _stored_game(game: LiveGame) -> StoredGame:
    position = game.before.position if game.before is not None else None
    if position is None or position.state is None or position.validator is None:
        return StoredGame(game.id, game.coin.atoms(), b"", b"")
    validator = GAME.programs[position.validator].hash
    return StoredGame(game.id, game.coin.atoms(), validator, serialize(position.state.value()))


@dataclass(frozen=True)
class Unroll:
    """An unroll coin, as its stored state describes it."""

    table: Table
    state: StoredState

    @property
    def channel(self) -> Channel:
        return self.table.channel

    @property
    def coin(self) -> Coin:
        return Coin(self.channel.coin.id, self.state.unroll_puzzle_hash, self.channel.coin.amount)

    @property
    def conditions(self) -> Value:
        return deserialize(self.state.conditions)

    @property
    def timeout_conditions(self) -> Value:
        lock = to_list(
            (int_to_atom(ASSERT_HEIGHT_RELATIVE), int_to_atom(self.channel.unroll_timeout))
        )
        return lock, self.conditions

    @property
    def puzzle(self) -> Program:
        puzzle = curry(
            load("channel/unroll"),
            bytes(self.channel.unroll_key),
            int_to_atom(self.state.number),
            tree_hash(self.timeout_conditions),
        )
        assert puzzle.hash == self.state.unroll_puzzle_hash
        return puzzle

    def publish(self, index: int) -> Bundle:
        """The channel coin's spend to it, completed by this side."""
        puzzle_hash, amount = self.state.unroll_puzzle_hash, int_to_atom(self.channel.coin.amount)
        conditions = to_list([to_list((int_to_atom(CREATE_COIN), puzzle_hash, amount))])
        spend = standard_spend(self.channel.coin, bytes(self.channel.channel_key), conditions)
        quoted: Value = (b"\x01", conditions)
        message = tree_hash(quoted) + self.channel.coin.id + self.channel.agg_sig_data
        ours = bls.sign_half(
            Cheat(self.table, index).keys.channel, message, self.channel.channel_key
        )
        return Bundle((spend,), bls.add(ours, *self.state.halves[:1]))

    def preempt(self, newer: StoredState, index: int) -> Bundle:
        """Its spend by a newer state, completed by this side."""
        ours = bls.sign_half(
            Cheat(self.table, index).keys.unroll,
            tree_hash(deserialize(newer.conditions)),
            self.channel.unroll_key,
        )
        spend = Spend(self.coin, self.puzzle.serialized, newer.conditions)
        return Bundle((spend,), bls.add(ours, *newer.halves[1:]))

    def time_out(self) -> Bundle:
        """Its spend after the timeout, which needs no signature."""
        solution = serialize(self.timeout_conditions)
        return Bundle((Spend(self.coin, self.puzzle.serialized, solution),), NO_SIGNATURE)

    def outputs(self) -> list[tuple[bytes, int]]:
        """The coins that the state pays: puzzle hashes and amounts, in order."""
        found = []
        conditions = self.conditions
        assert isinstance(conditions, tuple)
        _, rest = conditions
        while isinstance(rest, tuple):
            condition, rest = rest
            match condition:
                case (code, (bytes(puzzle_hash), (bytes(amount), b""))):
                    assert code == int_to_atom(CREATE_COIN)
                    found.append((puzzle_hash, atom_to_int(amount)))
                case _:
                    raise AssertionError(condition)
        return found


@dataclass(frozen=True)
class OnChainGame:
    """A game coin that came out of an unroll coin."""

    table: Table
    unroll: Unroll
    game: StoredGame

    @property
    def puzzle(self) -> Program:
        return curry(referee(), to_list(self.game.coin))

    @property
    def amount(self) -> int:
        return atom_to_int(self.game.coin[3])

    @property
    def timeout(self) -> int:
        return atom_to_int(self.game.coin[2])

    @property
    def mover(self) -> Side:
        """The mover, by its key, which is the first of the coin's fields."""
        keys = [bytes(keys.referee) for keys in self.unroll.channel.keys]
        return Side(keys.index(self.game.coin[0]))

    @property
    def shares(self) -> tuple[int, int]:
        """The payouts of the mover and the waiter by timeout."""
        share = atom_to_int(self.game.coin[9])
        return share, self.amount - share

    @property
    def coin(self) -> Coin:
        return Coin(self.unroll.coin.id, self.puzzle.hash, self.amount)

    def spend(self, *solution: Value) -> Spend:
        return Spend(self.coin, self.puzzle.serialized, serialize(to_list(solution)))

    def claim(self) -> Bundle:
        """The timeout's spend, with the payout signatures from the handshake."""
        channel = self.unroll.channel
        sides = (self.mover, self.mover.other)
        paid = [side for side, share in zip(sides, self.shares, strict=True) if share]
        addresses = [
            channel.rewards[side] if share else b""
            for side, share in zip(sides, self.shares, strict=True)
        ]
        signature = bls.add(*(channel.payout_signatures[side] for side in paid))
        return Bundle((self.spend(*addresses),), signature)

    def slash(self, evidence: bytes, signature: bytes = b"") -> Bundle:
        """The slash of the last move by the mover, with this evidence and its signature."""
        channel = self.unroll.channel
        program = next(one for one in GAME.programs.values() if one.hash == self.game.validator)
        spend = self.spend(
            deserialize(self.game.state),
            program.value,
            deserialize(evidence),
            channel.rewards[self.mover],
        )
        signatures = filter(None, (channel.payout_signatures[self.mover], signature))
        return Bundle((spend,), bls.add(*signatures))


def take(table: Table, bundle: Bundle) -> None:
    """Push a bundle that the node accepts, and farm it."""
    result = table.chain.push(bundle)
    assert result.answer is Answer.ACCEPTED, result
    table.chain.farm()
    for spend in bundle.spends:
        seen = table.chain.coin(spend.coin.id)
        assert seen is not None
        assert seen.spent is not None


def refused(table: Table, bundle: Bundle) -> str:
    """Push a bundle that the node refuses; its error."""
    result = table.chain.push(bundle)
    assert result.answer is Answer.REFUSED, result
    return result.error


def exists(table: Table, coin: Coin) -> bool:
    seen = table.chain.coin(coin.id)
    return seen is not None and seen.spent is None


def reward(table: Table, index: int) -> int:
    """The money at this side's reward address."""
    address = table.ends[index].peer.config.reward_address
    return sum(seen.coin.amount for seen in table.chain.coins_at(address))


def games_of(table: Table, unroll: Unroll) -> list[OnChainGame]:
    return [OnChainGame(table, unroll, game) for game in unroll.state.games]
