"""Make coins of any puzzle on a chain whose blocks we make, and sign spends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chia_rs import PrivateKey

from channelsim.channel.chain.coins import (
    Bundle,
    Coin,
    Spend,
    condition,
    signed_spend,
)
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.run import ProgramValid, run_serialized
from channelsim.clsp.values import NotAList, Value, from_list, serialize, to_list
from channelsim.games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE, CREATE_COIN

AT_ONCE = 200
"""The most coins that one spend makes."""

MOST_AT_ONCE = 1_000_000_000_000
"""The most mojos that one spend of several coins uses: half a block reward."""

_ME, _UNSAFE = int_to_atom(AGG_SIG_ME), int_to_atom(AGG_SIG_UNSAFE)

Wanted = tuple[bytes, int]
"""A coin to make: its puzzle hash, and its amount in mojos."""


class NodeWallet:
    """Block rewards at one address, turned into coins on demand."""

    def __init__(self, chain: FarmableChain, secret: bytes) -> None:
        self._chain = chain
        self._key = wallet_key(secret, "wallet")
        self._address = address_of(self._key)
        self._left: Coin | None = None

    def coins(self, wanted: Sequence[Wanted]) -> list[Coin]:
        """Make these coins in one spend and a block, in this order. No two may be the same.

        Raises `UsageError` where they hold more than a block reward.
        """
        total = sum(amount for _, amount in wanted)
        if self._left is None or self._left.amount < total:
            self._left = self._chain.give(self._address, total)
        coin = self._left
        outputs = list(wanted)
        change = coin.amount - total
        outputs += [(self._address, change)] if change else []
        conditions = to_list(
            condition(CREATE_COIN, puzzle_hash, int_to_atom(amount))
            for puzzle_hash, amount in outputs
        )
        spend = signed_spend(self._key, coin, conditions, self._chain.agg_sig_data())
        result = self._chain.push(spend)
        if result.answer is not Answer.ACCEPTED:
            raise InvariantError(f"coins cannot be made: {result.error}")
        self._chain.farm()
        made = [Coin(coin.id, puzzle_hash, amount) for puzzle_hash, amount in outputs]
        self._left = made.pop() if change else None
        return made


def signed(spend: Spend, keys: Mapping[bytes, PrivateKey], agg_sig_data: bytes) -> Bundle:
    """Sign one spend: make each signature that it asks for and that these keys can make."""
    suffixes: dict[Value, bytes] = {_ME: spend.coin.id + agg_sig_data, _UNSAFE: b""}
    made = []
    outcome = run_serialized(spend.puzzle, spend.solution)
    try:
        conditions = from_list(outcome.value) if isinstance(outcome, ProgramValid) else []
    except NotAList:
        conditions = []
    for one in conditions:
        match one:
            case (code, (bytes(key), (bytes(message), _))) if code in suffixes and key in keys:
                made.append(bls.sign(keys[key], message + suffixes[code]))
    return Bundle((spend,), bls.add(*made) if made else NO_SIGNATURE)


def spend_of(coin: Coin, puzzle: bytes, solution: Value) -> Spend:
    """Make a spend from a solution that is a value."""
    return Spend(coin, puzzle, serialize(solution))
