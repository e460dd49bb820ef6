"""The game coin: its eleven fields, and the referee's rules for spending it.

The same rules as a program, with the same ids, are `clsp/source/channel/referee.clsp`.
Source: spec/referee.md, "The game coin", "Timeout", "Move" and "Slash".
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

import msgspec

from channelsim.clsp.curry import curried_hash, curry
from channelsim.clsp.programs import Program, load
from channelsim.clsp.values import (
    NIL,
    Value,
    int_to_atom,
    list_of,
    serialize,
    to_list,
    tree_hash,
)

FIRST = b"\x78"
"""INFOHASH_A of a game's first coin, and the prefix of the message of a payout signature."""

CREATE_COIN = 51
AGG_SIG_UNSAFE = 49
AGG_SIG_ME = 50
ASSERT_HEIGHT_RELATIVE = 82
ASSERT_BEFORE_HEIGHT_RELATIVE = 86

RULES = {
    "REF-TIMEOUT-1": "a timeout's solution is exactly two items",
    "REF-TIMEOUT-2": "a payout puzzle hash is empty exactly when that side's share is 0",
    "REF-TIMEOUT-3": "a timeout waits until the coin is TIMEOUT blocks old",
    "REF-TIMEOUT-4": "each share goes to an address that its owner's referee key signed",
    "REF-MOVE-1": "a move's solution is exactly four items",
    "REF-MOVE-2": "a game that is over takes no more moves",
    "REF-MOVE-3": "the move is at most MAX_MOVE_SIZE bytes long",
    "REF-MOVE-4": "the share is from 0 to AMOUNT",
    "REF-MOVE-5": "the share is in the fewest bytes",
    "REF-MOVE-6": "the next size limit is at most two bytes long",
    "REF-MOVE-7": "the next size limit is not negative",
    "REF-MOVE-8": "the next size limit is in the fewest bytes",
    "REF-MOVE-9": "the commitment is empty or 32 bytes",
    "REF-MOVE-10": "a move comes before TIMEOUT, keeps the amount, and is signed by the mover",
    "REF-SLASH-1": "a slash's solution is exactly four items",
    "REF-SLASH-2": "the previous validator and state are those of INFOHASH_A",
    "REF-SLASH-3": "a slash pays when the validator returns `()`",
    "REF-SLASH-4": "a slash pays when the next program and state are not the committed ones",
    "REF-SLASH-5": "a slash pays when the next size limit is not the committed one",
    "REF-SLASH-6": "extra conditions of the validator go in front of the payout",
    "REF-SLASH-7": "a slash fails when all agrees and there are no extra conditions",
    "REF-SLASH-8": "a slash pays the whole amount to the mover, at an address that its key signed",
}
"""The referee's rules, one sentence for each id."""


class RefereeRefusal(ValueError):
    """The referee refuses a spend; `rule` is the id of the rule that it breaks."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"{rule}: {RULES[rule]}")
        self.rule = rule


def infohash(program_hash: bytes, state_hash: bytes) -> bytes:
    """The 32-byte commitment to a validator and its state.

    >>> infohash(b"v" * 32, b"s" * 32) == sha256(b"v" * 32 + b"s" * 32).digest()
    True
    """
    return sha256(program_hash + state_hash).digest()


def payout_message(puzzle_hash: bytes) -> bytes:
    """The message that a referee key signs, once, to authorise every payout to an address."""
    return FIRST + puzzle_hash


def referee() -> Program:
    """The referee's program, before its arguments are curried in."""
    return load("channel/referee")


class GameCoin(msgspec.Struct, frozen=True):
    """The record that a referee is curried with, in its order.

    `move` was made by the waiter of this coin, and `mover_share` is what the mover is paid at a
    timeout. `infohash_a` is the validator and state that judge `move`, `infohash_b` those that
    judge the next one; empty when the game is over. Keys are 48 bytes; money is in mojos; `timeout`
    is in blocks; `nonce` is the game's id.
    """

    mover_key: bytes
    waiter_key: bytes
    timeout: int
    amount: int
    mod_hash: bytes
    nonce: int
    move: bytes
    max_move_size: int
    infohash_b: bytes
    mover_share: int
    infohash_a: bytes

    @property
    def waiter_share(self) -> int:
        """The payout of the waiter at a timeout, in mojos."""
        return self.amount - self.mover_share

    def atoms(self) -> tuple[bytes, ...]:
        """The eleven atoms, in order."""
        fields = msgspec.structs.astuple(self)
        return tuple(int_to_atom(item) if isinstance(item, int) else item for item in fields)

    def value(self) -> Value:
        """The list as a CLVM value."""
        return list_of(*msgspec.structs.astuple(self))

    def puzzle(self) -> Program:
        """The puzzle that spends the coin."""
        return curry(referee(), self.value())

    @lru_cache(maxsize=1024)  # noqa: B019  (coins are compared by value, and few are live)
    def puzzle_hash(self) -> bytes:
        """The coin's puzzle hash; every state that a coin is part of needs it."""
        return curried_hash(self.mod_hash, tree_hash(self.value()))

    def after(self, move: bytes, commitment: bytes, share: int, max_move_size: int) -> GameCoin:
        """The coin that a move makes. Raises `RefereeRefusal`."""
        if not self.infohash_b:
            raise RefereeRefusal("REF-MOVE-2")
        if len(move) > self.max_move_size:
            raise RefereeRefusal("REF-MOVE-3")
        if not 0 <= share <= self.amount:
            raise RefereeRefusal("REF-MOVE-4")
        if max_move_size >= 1 << 15:
            raise RefereeRefusal("REF-MOVE-6")
        if max_move_size < 0:
            raise RefereeRefusal("REF-MOVE-7")
        if len(commitment) not in (0, 32):
            raise RefereeRefusal("REF-MOVE-9")
        return msgspec.structs.replace(
            self,
            mover_key=self.waiter_key,
            waiter_key=self.mover_key,
            move=move,
            max_move_size=max_move_size,
            infohash_b=commitment,
            mover_share=share,
            infohash_a=self.infohash_b,
        )


# --- the three ways to spend a game coin ------------------------------------------------------


def move_solution(coin: GameCoin) -> Value:
    """The solution that turns the coin before it into `coin`."""
    return list_of(coin.move, coin.infohash_b, coin.mover_share, coin.max_move_size)


def move_conditions(coin: GameCoin, after: GameCoin) -> Value:
    """The conditions of the referee of `coin` when it is moved to `after`."""
    solution = move_solution(after)
    return _conditions(
        (ASSERT_BEFORE_HEIGHT_RELATIVE, coin.timeout),  # REF-MOVE-10
        (CREATE_COIN, after.puzzle_hash(), coin.amount),
        (AGG_SIG_ME, coin.mover_key, tree_hash(solution)),
    )


def timeout_solution(coin: GameCoin, mover_address: bytes, waiter_address: bytes) -> Value:
    """The solution that pays both shares; a share of 0 has no address."""
    return list_of(
        mover_address if coin.mover_share else NIL,
        waiter_address if coin.waiter_share else NIL,
    )


def timeout_conditions(coin: GameCoin, solution: Value) -> Value:
    """The conditions of the referee at a timeout. Raises `RefereeRefusal`."""
    match solution:
        case (bytes(mover_address), (bytes(waiter_address), b"")):
            pass
        case _:
            raise RefereeRefusal("REF-TIMEOUT-1")
    conditions: list[tuple[bytes | int, ...]] = [
        (ASSERT_HEIGHT_RELATIVE, coin.timeout)  # REF-TIMEOUT-3
    ]
    for key, address, share in (
        (coin.mover_key, mover_address, coin.mover_share),
        (coin.waiter_key, waiter_address, coin.waiter_share),
    ):
        if bool(address) != bool(share):
            raise RefereeRefusal("REF-TIMEOUT-2")
        if share:
            conditions += _payout(key, address, share)  # REF-TIMEOUT-4
    return _conditions(*conditions)


def slash_solution(
    state: Value, validator: Program, evidence: Value, mover_address: bytes
) -> Value:
    """The solution that pays everything to the mover, because MOVE was illegal."""
    return list_of(state, validator.value, evidence, mover_address)


def validator_arguments(
    coin: GameCoin, state: Value, validator: Program, evidence: Value, mover_address: bytes
) -> bytes:
    """The environment in which a slash runs the previous validator, serialized.

    `(program_hash curried_args state program evidence mover_payout_ph)`: see
    spec/validator.md, "Calling a validator".
    """
    return b"".join(
        (
            b"\xff\xa0" + validator.hash + b"\xff",
            serialize(coin.value()),
            b"\xff" + serialize(state) + b"\xff" + validator.serialized,
            b"\xff" + serialize(evidence) + b"\xff" + serialize(mover_address) + b"\x80",
        )
    )


def slash_conditions(
    coin: GameCoin, state: Value, validator: Program, result: Value, mover_address: bytes
) -> Value:
    """The conditions of the referee at a slash, by the result of the validator.

    Raises `RefereeRefusal` if the slash fails. It also fails if the validator raises; then there is
    no result.
    """
    if infohash(validator.hash, tree_hash(state)) != coin.infohash_a:
        raise RefereeRefusal("REF-SLASH-2")
    if not mover_address:
        raise RefereeRefusal("REF-SLASH-8")
    extra = _extra_conditions(coin, result)
    payout = _conditions(*_payout(coin.mover_key, mover_address, coin.amount))
    return _append(extra, payout)  # REF-SLASH-6


def _extra_conditions(coin: GameCoin, result: Value) -> Value:
    """The validator's conditions in front of a slash's payout; `()` for an illegal move."""
    matches, extra = compare(coin, result)
    if not matches:
        return NIL
    if not isinstance(extra, tuple):
        raise RefereeRefusal("REF-SLASH-7")
    return extra


def compare(coin: GameCoin, result: Value) -> tuple[bool, Value]:
    """Compare a validator's result with the coin: whether it matches, and its extra conditions.

    An absent item counts as `()`, and the result `()` matches nothing. Raises `RefereeRefusal` for
    a result whose shape makes the referee raise, so that the slash fails.
    """
    if result == NIL:  # REF-SLASH-3
        return False, NIL
    match result:
        case (bytes(program_hash), rest):
            pass
        case _:
            raise RefereeRefusal("REF-SLASH-4")
    state, rest = rest if isinstance(rest, tuple) else (NIL, NIL)
    committed = infohash(program_hash, tree_hash(state)) if program_hash else b""
    if committed != coin.infohash_b:  # REF-SLASH-4
        return False, NIL
    size, extra = rest if isinstance(rest, tuple) else (NIL, NIL)
    if not isinstance(size, bytes):
        raise RefereeRefusal("REF-SLASH-5")
    return size == int_to_atom(coin.max_move_size), extra  # REF-SLASH-5


def _append(items: Value, tail: Value) -> Value:
    """A proper list followed by another. Raises `RefereeRefusal` if the first is improper."""
    reversed_items: list[Value] = []
    while isinstance(items, tuple):
        item, items = items
        reversed_items.append(item)
    if items != NIL:
        raise RefereeRefusal("REF-SLASH-6")
    for item in reversed(reversed_items):
        tail = (item, tail)
    return tail


def _payout(key: bytes, address: bytes, share: int) -> list[tuple[bytes | int, ...]]:
    return [
        (CREATE_COIN, address, share),
        (AGG_SIG_UNSAFE, key, payout_message(address)),
    ]


def _conditions(*conditions: tuple[bytes | int, ...]) -> Value:
    return to_list(list_of(*condition) for condition in conditions)
