"""Validate bundles by the consensus library: run their puzzles and check their signatures.

This is the part of a node's judgement that needs neither coins nor other bundles.
Reference: `pre_validate_spendbundle` in chia/full_node/mempool_manager.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from chia_rs import (
    DONT_VALIDATE_SIGNATURE,
    ELIGIBLE_FOR_DEDUP,
    MEMPOOL_MODE,
    CoinSpend,
    ConsensusConstants,
    G2Element,
    Program,
    SpendBundle,
    SpendBundleConditions,
    get_conditions_from_spendbundle,
    validate_clvm_and_signature,
)
from chia_rs import Coin as NodeCoin
from chia_rs.sized_bytes import bytes32
from chia_rs.sized_ints import uint32, uint64

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.constants import BLOCK_COST, POOL_BLOCKS, constants_of
from channelsim.channel.chain.refusals import INVALID_BUNDLE, NAMES, name_of
from channelsim.channel.crypto import bls
from channelsim.clsp.values import int_to_atom

BAD_SIGNATURE = NAMES[7]

MOST_PAIRS = 60_000_000
"""Atoms, and pairs, that a block may make; a bundle its share of them by cost."""


@dataclass(frozen=True, slots=True, eq=False)
class ValidSpend:
    """One spend of a valid bundle: the coins that it makes, each with its hint, and its cost.

    `repeatable` spends need no signature; blocks have one of several that are identical.
    """

    spend: Spend
    made: tuple[tuple[Coin, bytes | None], ...]
    cost: int
    repeatable: bool


@dataclass(frozen=True, slots=True, eq=False)
class ValidBundle:
    """A bundle whose puzzles and signatures are right, with the conditions that they give.

    `name` is the bundle's id, and `spends` are by the ids of their coins.
    """

    name: bytes
    bundle: Bundle
    spends: dict[bytes, ValidSpend]
    conditions: SpendBundleConditions

    @property
    def cost(self) -> int:
        """The cost of the bundle's bytes, runs and conditions."""
        return int(self.conditions.cost)

    @property
    def fee(self) -> int:
        """The mojos that the spends leave over."""
        return int(self.conditions.removal_amount - self.conditions.addition_amount)


class InvalidBundle(Exception):
    """A bundle is invalid, whatever coins there are. `lasting` unless a repeat is judged anew."""

    def __init__(self, error: str, *, lasting: bool = True) -> None:
        super().__init__(error)
        self.error = error
        self.lasting = lasting


class Validator:
    """Validates bundles for a network, each with at most half the cost of a block."""

    def __init__(self, constants: ConsensusConstants) -> None:
        self.constants = constants
        self._block_cost = int(constants.MAX_BLOCK_COST_CLVM)

    def validate(self, name: bytes, bundle: Bundle) -> ValidBundle:
        """Run the puzzles and check the signatures. Raises `InvalidBundle`."""
        if not bundle.spends:
            raise InvalidBundle(INVALID_BUNDLE)
        try:
            conditions = _conditions(bundle, self._block_cost // 2, self.constants)
        except ValueError as error:
            number = error.args[1] if len(error.args) > 1 else None
            raise InvalidBundle(name_of(number)) from None
        share = conditions.cost * MOST_PAIRS / self._block_cost
        if conditions.num_atoms > share or conditions.num_pairs > share:
            raise InvalidBundle(INVALID_BUNDLE, lasting=False)
        return ValidBundle(name, bundle, _spends(bundle, conditions), conditions)


def _conditions(
    bundle: Bundle, most_cost: int, constants: ConsensusConstants
) -> SpendBundleConditions:
    """What the puzzles give. Raises `InvalidBundle`, and `ValueError` with the error's number."""
    scheme = bls.stand_in()
    flags = MEMPOOL_MODE if scheme is None else MEMPOOL_MODE | DONT_VALIDATE_SIGNATURE
    conditions, _, _ = validate_clvm_and_signature(node_bundle(bundle), most_cost, constants, flags)
    if scheme is not None:
        keys, messages = to_sign(conditions, constants)
        if not scheme.verify_all(keys, messages, bundle.signature):
            raise InvalidBundle(BAD_SIGNATURE)
    return conditions


def to_sign(
    conditions: SpendBundleConditions, constants: ConsensusConstants
) -> tuple[list[bytes], list[bytes]]:
    """The keys (48 bytes) that have to sign for these conditions, and what each of them signs."""
    signed = list(conditions.agg_sig_unsafe)
    for spend in conditions.spends:
        parent, puzzle_hash = bytes(spend.parent_id), bytes(spend.puzzle_hash)
        amount = int_to_atom(spend.coin_amount)
        for kind, of_coin in (
            ("me", bytes(spend.coin_id)),
            ("parent", parent),
            ("puzzle", puzzle_hash),
            ("amount", amount),
            ("puzzle_amount", puzzle_hash + amount),
            ("parent_amount", parent + amount),
            ("parent_puzzle", parent + puzzle_hash),
        ):
            data = bytes(getattr(constants, f"AGG_SIG_{kind.upper()}_ADDITIONAL_DATA"))
            pairs = getattr(spend, f"agg_sig_{kind}")
            signed += [(key, message + of_coin + data) for key, message in pairs]
    return [bytes(key) for key, _ in signed], [message for _, message in signed]


def checked(bundle: Bundle, agg_sig_data: bytes) -> ValidBundle | None:
    """The bundle with what its puzzles give, on the network with these data; None if invalid."""
    try:
        return Validator(_constants(agg_sig_data)).validate(b"", bundle)
    except InvalidBundle:
        return None


@cache
def _constants(agg_sig_data: bytes) -> ConsensusConstants:
    return constants_of(agg_sig_data, BLOCK_COST, BLOCK_COST * POOL_BLOCKS)


def cost_of(bundle: Bundle) -> int:
    """The cost of a bundle, whose signatures are not checked; 0 if it is not valid.

    On a public network: the network's own data change no cost.
    """
    try:
        found = get_conditions_from_spendbundle(
            node_bundle(bundle), BLOCK_COST // 2, _constants(bytes(32)), uint32(0)
        )
    except (ValueError, TypeError, InvalidBundle):
        return 0
    return int(found.cost)


def _spends(bundle: Bundle, conditions: SpendBundleConditions) -> dict[bytes, ValidSpend]:
    found = {bytes(one.coin_id): one for one in conditions.spends}
    spends = {}
    for spend in bundle.spends:
        coin_id = spend.coin.id
        its = found[coin_id]
        made = tuple(
            (Coin(coin_id, bytes(address), int(amount)), None if hint is None else bytes(hint))
            for address, amount, hint in its.create_coin
        )
        cost = int(its.execution_cost + its.condition_cost)
        spends[coin_id] = ValidSpend(spend, made, cost, bool(its.flags & ELIGIBLE_FOR_DEDUP))
    return spends


def name_of_bundle(bundle: Bundle) -> bytes:
    """The id of a bundle: the hash of its bytes.

    >>> name_of_bundle(Bundle((), b"\\xc0" + bytes(95))).hex()[:8]
    'f2736461'
    """
    parts = [len(bundle.spends).to_bytes(4, "big")]
    for spend in bundle.spends:
        coin = spend.coin
        parts += [coin.parent, coin.puzzle_hash, coin.amount.to_bytes(8, "big")]
        parts += [spend.puzzle, spend.solution]
    return sha256(b"".join([*parts, bundle.signature])).digest()


def node_bundle(bundle: Bundle) -> SpendBundle:
    """The bundle as the consensus library takes it. Raises `InvalidBundle`."""
    try:
        return SpendBundle(
            [
                CoinSpend(node_coin(s.coin), Program.from_bytes(s.puzzle), _program(s.solution))
                for s in bundle.spends
            ],
            _point(bundle.signature),
        )
    except ValueError:
        # The library does not read long lengths at all; the reference node reads and refuses them.
        long = not all(is_canonical(s.puzzle) and is_canonical(s.solution) for s in bundle.spends)
        error = "INVALID_COIN_SOLUTION" if long else INVALID_BUNDLE
        raise InvalidBundle(error, lasting=False) from None


def _point(signature: bytes) -> G2Element:
    if bls.stand_in() is None:
        return G2Element.from_bytes(signature)
    point = bls.signature(signature)
    if point is None:
        raise ValueError("no signature")
    return point


def node_coin(coin: Coin) -> NodeCoin:
    """A coin as the consensus library takes it."""
    return NodeCoin(bytes32(coin.parent), bytes32(coin.puzzle_hash), uint64(coin.amount))


_program = Program.from_bytes

# --- canonical serialization ---------------------------------------------------------------------

_SHORT = re.compile(rb"[\x00-\x80\xff]*")
"""Pairs, and atoms that are one byte of the serialization."""


def is_canonical(program: bytes) -> bool:
    """True if every atom has the shortest length, and nothing refers back. The program must be one
    that can be parsed.

    >>> is_canonical(bytes.fromhex("ff0183616263")), is_canonical(bytes.fromhex("c003616263"))
    (True, False)
    """
    at = _end_of_short(program, 0)
    while at < len(program):
        first = program[at]
        if first == 0xFE:
            return False
        more = 0
        while first & (0x40 >> more):
            more += 1
        length = first & (0x3F >> more)
        for byte in program[at + 1 : at + 1 + more]:
            length = length << 8 | byte
        # With `more` bytes in front, lengths below are written with fewer.
        if length < (1 << (7 * more - 1) if more else 1):
            return False
        at = _end_of_short(program, at + 1 + more + length)
    return True


def _end_of_short(program: bytes, start: int) -> int:
    match = _SHORT.match(program, start)
    return match.end() if match is not None else start
