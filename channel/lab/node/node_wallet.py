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
from channelsim.channel.lab.referee.referee_runs import conditions
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.clsp.run import run_serialized
from channelsim.clsp.values import Value, int_to_atom, serialize, to_list
from channelsim.games.referee import AGG_SIG_ME, AGG_SIG_UNSAFE, CREATE_COIN

AT_ONCE = 200
"""The most coins that one spend makes."""

MOST_AT_ONCE = 1_000_000_000_000
"""The most mojos that one spend of several coins uses: half a block reward."""

_ME, _UNSAFE = int_to_atom(AGG_SIG_ME), int_to_atom(AGG_SIG_UNSAFE)

CoinToMake = tuple[bytes, int]
"""Its puzzle hash, and its amount in mojos."""


class NodeWallet:
    """Block rewards at one address, turned into coins on demand."""

    def __init__(self, chain: FarmableChain, secret: bytes) -> None:
        self._chain = chain
        self._key = wallet_key(secret, "wallet")
        self._address = address_of(self._key)
        self._left: Coin | None = None

    def coins(self, coins: Sequence[CoinToMake]) -> list[Coin]:
        """Make these coins in one spend and a block, in this order. No two may be the same.

        Raises `UsageError` where they hold more than a block reward.
        """
        total = sum(amount for _, amount in coins)
        if self._left is None or self._left.amount < total:
            self._left = self._chain.give(self._address, total)
        coin = self._left
        change = coin.amount - total
        outputs = [*coins, *([(self._address, change)] if change else [])]
        conditions_made = to_list(
            condition(CREATE_COIN, puzzle_hash, amount) for puzzle_hash, amount in outputs
        )
        spend = signed_spend(self._key, coin, conditions_made, self._chain.agg_sig_data())
        result = self._chain.push(spend)
        if result.answer is not Answer.ACCEPTED:
            raise InvariantError(f"coins cannot be made: {result.error}")
        self._chain.farm()
        new = [Coin(coin.id, puzzle_hash, amount) for puzzle_hash, amount in outputs]
        self._left = new.pop() if change else None
        return new


def signed(spend: Spend, keys: Mapping[bytes, PrivateKey], agg_sig_data: bytes) -> Bundle:
    """Sign one spend: make each signature that it asks for and that these keys can make."""
    suffixes: dict[Value, bytes] = {_ME: spend.coin.id + agg_sig_data, _UNSAFE: b""}
    signatures = []
    for asked in conditions(run_serialized(spend.puzzle, spend.solution)):
        match asked:
            case (code, bytes(key), bytes(message)) if code in suffixes and key in keys:
                signatures.append(bls.sign(keys[key], message + suffixes[code]))
    return Bundle((spend,), bls.add(*signatures) if signatures else NO_SIGNATURE)


def spend_of(coin: Coin, puzzle: bytes, solution: Value) -> Spend:
    """Make a spend from a solution that is a value."""
    return Spend(coin, puzzle, serialize(solution))
