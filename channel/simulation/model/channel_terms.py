"""The terms that the opening fixes, and the messages that both sides sign for a state.

Independent of the engine: the conditions of a state are built from the ledger alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from chia_rs import AugSchemeMPL, G1Element, G2Element

from channelsim.channel.chain.coins import Coin, launcher_coin, standard_puzzle_hash
from channelsim.channel.crypto import bls
from channelsim.channel.protocol.messages import Hello, Launch, Welcome
from channelsim.channel.simulation.model.ledger import LedgerState
from channelsim.clsp.curry import curried_hash
from channelsim.clsp.programs import load
from channelsim.clsp.values import (
    Value,
    int_to_atom,
    to_list,
    tree_hash,
    tree_hash_pair,
)


@dataclass(frozen=True, slots=True)
class ChannelTerms:
    """Keys (48 bytes each) and addresses, the initiator's first, and the coin of the channel."""

    channel_keys: tuple[bytes, bytes]
    unroll_keys: tuple[bytes, bytes]
    referee_keys: tuple[bytes, bytes]
    rewards: tuple[bytes, bytes]
    unroll_timeout: int
    agg_sig_data: bytes
    launcher: Coin
    coin: Coin

    @classmethod
    def of(
        cls, hello: Hello, welcome: Welcome, launch: Launch, agg_sig_data: bytes
    ) -> ChannelTerms:
        """The terms that these three messages fix."""
        channel_keys = launch.channel_key, welcome.channel_key
        launcher = launcher_coin(launch.parent)
        return cls(
            channel_keys,
            (hello.unroll_key, welcome.unroll_key),
            (hello.referee_key, welcome.referee_key),
            (hello.reward_address, welcome.reward_address),
            hello.unroll_timeout,
            agg_sig_data,
            launcher,
            Coin(launcher.id, standard_puzzle_hash(added(*channel_keys)), sum(hello.contributions)),
        )

    # --- the puzzles of a state ---

    def unroll_puzzle_hash(self, state: LedgerState) -> bytes:
        """The puzzle hash of the unroll coin of this state."""
        return self._unroll_puzzle_hash(state.number, tree_hash(self.conditions(state)))

    def _unroll_puzzle_hash(self, number: int, conditions: bytes) -> bytes:
        lock = tree_hash(_condition(82, int_to_atom(self.unroll_timeout)))
        return curried_hash(
            load("channel/unroll").hash,
            tree_hash(added(*self.unroll_keys)),
            tree_hash(int_to_atom(number)),
            tree_hash(tree_hash_pair(lock, conditions)),
        )

    def conditions(self, state: LedgerState) -> Value:
        """The conditions of a preemption by this state: its number, balances and game coins."""
        return to_list((_condition(1, int_to_atom(state.number)), *self._coins(state)))

    def _coins(self, state: LedgerState) -> list[Value]:
        coins = [pair for pair in zip(self.rewards, state.balances, strict=True) if pair[1]]
        games = (game.coin for _, game in sorted(state.games.items()))
        coins += [(coin.puzzle_hash(), coin.amount) for coin in games]
        return [_condition(51, address, int_to_atom(amount)) for address, amount in coins]

    # --- what is signed ---

    def unsigned(self, state: LedgerState, sender: int, halves: tuple[bytes, bytes]) -> list[str]:
        """The rules that this side's halves for a state break: `CH-BATCH-4`, `CH-BATCH-5`."""
        return self.unproved(state.number, tree_hash(self.conditions(state)), sender, halves)

    def unproved(
        self, number: int, conditions: bytes, sender: int, halves: tuple[bytes, bytes]
    ) -> list[str]:
        """The same for a state that is known by its number and the hash of its conditions."""
        unroll = self._unroll_puzzle_hash(number, conditions)
        to_unroll = _condition(51, unroll, int_to_atom(self.coin.amount))
        signed_by = (
            ("CH-BATCH-4", self.channel_keys, self._channel_message(to_list((to_unroll,)))),
            ("CH-BATCH-5", self.unroll_keys, conditions),
        )
        return [
            rule
            for (rule, keys, message), half in zip(signed_by, halves, strict=True)
            if not is_half(keys[sender], message, added(*keys), half)
        ]

    def is_shutdown_half(self, state: LedgerState, sender: int, half: bytes) -> bool:
        """True if this is the side's half-signature of the shutdown."""
        key = added(*self.channel_keys)
        return is_half(self.channel_keys[sender], self._shutdown_message(state), key, half)

    def is_shutdown(self, state: LedgerState, signature: bytes) -> bool:
        """True if this is the complete signature of the shutdown."""
        return signed((added(*self.channel_keys),), (self._shutdown_message(state),), signature)

    def _shutdown_message(self, state: LedgerState) -> bytes:
        return self._channel_message(to_list(self._coins(state)))

    def _channel_message(self, conditions: Value) -> bytes:
        return tree_hash((b"\x01", conditions)) + self.coin.id + self.agg_sig_data


def _condition(code: int, *atoms: bytes) -> Value:
    return to_list((int_to_atom(code), *atoms))


# --- signatures --------------------------------------------------------------------------------

# Runs of one seed begin alike, so most of these are computed again.


@lru_cache(maxsize=1 << 12)
def added(first: bytes, second: bytes) -> bytes:
    """The sum of two public keys."""
    return bytes(G1Element.from_bytes(first) + G1Element.from_bytes(second))


def is_half(key: bytes, message: bytes, sum_key: bytes, half: bytes) -> bool:
    """True if this is the key's half of a signature of the message under the sum key."""
    if (scheme := bls.stand_in()) is not None:
        return scheme.verify_half(key, message, sum_key, half)
    return bls.was_made(key, message, sum_key, half) or _is_half(key, message, sum_key, half)


@lru_cache(maxsize=1 << 14)
def _is_half(key: bytes, message: bytes, sum_key: bytes, half: bytes) -> bool:
    try:
        point = G2Element.from_bytes(half)
    except ValueError:
        return False
    hashed = AugSchemeMPL.g2_from_message(sum_key + message)
    return bool(G1Element.from_bytes(key).pair(hashed) == G1Element.generator().pair(point))


def signed(keys: tuple[bytes, ...], messages: tuple[bytes, ...], signature: bytes) -> bool:
    """True if this is the sum of one signature for each key and message."""
    if (scheme := bls.stand_in()) is not None:
        return scheme.verify_all(keys, messages, signature)
    return _signed(keys, messages, signature)


@lru_cache(maxsize=1 << 12)
def _signed(keys: tuple[bytes, ...], messages: tuple[bytes, ...], signature: bytes) -> bool:
    try:
        point = G2Element.from_bytes(signature)
        points = [G1Element.from_bytes(key) for key in keys]
    except ValueError:
        return False
    return AugSchemeMPL.aggregate_verify(points, list(messages), point)
