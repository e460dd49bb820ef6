"""Coins, spends and bundles as values, and the puzzles of the standard library."""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import sha256
from typing import Annotated

import msgspec
from chia_rs import PrivateKey
from msgspec import Meta

from channelsim.channel.crypto import bls
from channelsim.clsp.curry import curried_hash, curry
from channelsim.clsp.programs import Program
from channelsim.clsp.values import (
    NIL,
    Value,
    int_to_atom,
    list_of,
    serialize,
    tree_hash,
    tree_hash_pair,
)

Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]
Key = Annotated[bytes, Meta(min_length=48, max_length=48)]
Signature = Annotated[bytes, Meta(min_length=96, max_length=96)]
Mojos = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
Height = Annotated[int, Meta(ge=0, lt=1 << 32)]

REMARK = 1
ASSERT_COIN_ANNOUNCEMENT = 61
ASSERT_BEFORE_HEIGHT_ABSOLUTE = 87


class Coin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A coin: the id of its parent, the hash of its puzzle, its amount in mojos."""

    parent: Hash
    puzzle_hash: Hash
    amount: Mojos

    @property
    def id(self) -> bytes:
        """The coin's 32-byte name."""
        return _coin_id(self.parent, self.puzzle_hash, self.amount)


@lru_cache(maxsize=1 << 14)
def _coin_id(parent: bytes, puzzle_hash: bytes, amount: int) -> bytes:
    # Every block asks for the same few coins.
    return sha256(parent + puzzle_hash + int_to_atom(amount)).digest()


class Spend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A coin with its puzzle and a solution, both serialized."""

    coin: Coin
    puzzle: bytes
    solution: bytes


class Bundle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Spends that are mined together or not at all, and the sum of their signatures."""

    spends: tuple[Spend, ...]
    signature: Signature


def joined(*bundles: Bundle) -> Bundle:
    """One bundle of several: their spends in order, and the sum of their signatures."""
    spends = tuple(spend for bundle in bundles for spend in bundle.spends)
    return Bundle(spends, bls.add(*(bundle.signature for bundle in bundles)))


# --- the standard puzzle -----------------------------------------------------------------------


@cache
def _standard() -> Program:
    from chia_wallet_sdk import Constants

    return Program(Constants.p2_delegated_puzzle_or_hidden_puzzle())


def standard_puzzle(synthetic_key: bytes) -> Program:
    """The standard puzzle of a synthetic key (48 bytes)."""
    return curry(_standard(), synthetic_key)


def standard_puzzle_hash(synthetic_key: bytes) -> bytes:
    """The address of a synthetic key."""
    return curried_hash(_standard().hash, tree_hash(synthetic_key))


_QUOTE = tree_hash(b"\x01")


def standard_message(conditions: bytes, coin_id: bytes, agg_sig_data: bytes) -> bytes:
    """The message that the synthetic key signs to spend a standard coin with these conditions.

    It begins with the tree hash of `(q . conditions)`, the delegated puzzle; the conditions are
    given by their own tree hash.
    """
    return tree_hash_pair(_QUOTE, conditions) + coin_id + agg_sig_data


def standard_spend(coin: Coin, synthetic_key: bytes, conditions: Value) -> Spend:
    """The spend of a standard coin, by the solution `(() (q . conditions) ())`."""
    solution = list_of(NIL, (b"\x01", conditions), NIL)
    return Spend(coin, standard_puzzle(synthetic_key).serialized, serialize(solution))


def signed_spend(
    synthetic_key: PrivateKey, coin: Coin, conditions: Value, agg_sig_data: bytes
) -> Bundle:
    """The spend of a standard coin with the signature of its key, as a bundle."""
    message = standard_message(tree_hash(conditions), coin.id, agg_sig_data)
    spend = standard_spend(coin, bytes(bls.public_of(synthetic_key)), conditions)
    return Bundle((spend,), bls.sign(synthetic_key, message))


# --- the launcher ------------------------------------------------------------------------------


@cache
def launcher_puzzle() -> Program:
    """The singleton launcher."""
    from chia_wallet_sdk import Constants

    return Program(Constants.singleton_launcher())


def launcher_coin(parent: Coin) -> Coin:
    """The launcher that `parent` creates, of amount 0."""
    return Coin(parent.id, launcher_puzzle().hash, 0)


def launcher_solution(puzzle_hash: bytes, amount: int) -> Value:
    """The solution with which a launcher creates one coin of `amount` mojos."""
    return list_of(puzzle_hash, amount, NIL)


def launcher_announcement(launcher_id: bytes, solution: Value) -> bytes:
    """The id of the announcement that a launcher makes with this solution."""
    return sha256(launcher_id + tree_hash(solution)).digest()


def condition(code: int, *atoms: bytes | int) -> Value:
    """One condition as a CLVM list, with numbers in the fewest bytes."""
    return list_of(code, *atoms)
