"""The result of a session, and the check that no mojo was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Chain
from channelsim.channel.peer.machine import Config
from channelsim.games.contract import Hand


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks that a session made.

    `moves_checked` counts moves that rules and programs judged. `python_clvm_agree`: they gave the
    same verdict on each. `conserved`: the chain holds all the money, where it belongs.
    `moves_by_rules` counts moves that the rules judged alone, since there is no program.
    """

    moves_checked: int
    python_clvm_agree: bool
    conserved: bool
    moves_by_rules: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """A finished session; balances (in mojos) and rewards are the initiator's first.

    `hands` come with the name of their game; `reason` says why no further hand was played.
    `excused`: none was left, a player wanted no more, or a balance did not cover the next stake.
    """

    hands: tuple[tuple[str, Hand], ...]
    balances: tuple[int, int]
    channel_coin: Coin
    rewards: tuple[Coin | None, Coin | None]
    checks: Checks
    disagreements: tuple[str, ...]
    reason: str
    excused: bool = True


def find_rewards(chain: Chain, configs: tuple[Config, Config]) -> tuple[Coin | None, Coin | None]:
    """Find both reward coins on chain; None for a peer that was paid nothing."""
    first, second = (
        next((seen.coin for seen in chain.coins_at(config.reward_address)), None)
        for config in configs
    )
    return first, second


def is_conserved(
    chain: Chain,
    configs: Sequence[Config],
    balances: tuple[int, int],
    rewards: tuple[Coin | None, Coin | None],
) -> bool:
    """Check on chain that each reward is the balance and that wallets hold all the rest."""
    paid = tuple(coin.amount if coin else 0 for coin in rewards)
    wallets = [config.wallet.coin for config in configs]
    left = sum(
        seen.coin.amount for wallet in wallets for seen in chain.coins_at(wallet.puzzle_hash)
    )
    return paid == balances and left + sum(paid) == sum(wallet.amount for wallet in wallets)
