"""Wrong behaviours of a peer that pays fees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chia_rs import PrivateKey
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.peer.fees.fee_state import FeeState, Offer
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.interface import (
    Connected,
    Dropped,
    Effect,
    Event,
    Push,
    SpendDropped,
    Tell,
)
from channelsim.channel.peer.machine import Peer
from channelsim.clsp.values import Value, int_to_atom, to_list
from scripts.tools.attack_faults.planting import Reach, events, reactions

CREATE_COIN, RESERVE_FEE, ASSERT_BEFORE_HEIGHT_ABSOLUTE = 51, 52, 87

Spending = Callable[[PrivateKey, Coin, int, Sequence[int], Iterable[Value], bytes], Bundle]
"""Spends a fee coin, for so many mojos, to coins of these amounts, with these assertions."""

# --- the spend of a fee coin ---------------------------------------------------------------------


def _spending(conditions: Callable[[Coin, int, Sequence[int], list[Value]], list[Value]]) -> Any:
    """Spend a fee coin with other conditions."""

    def other(spend: Spending) -> Spending:
        def spend_differently(
            key: PrivateKey,
            coin: Coin,
            fee: int,
            amounts: Sequence[int],
            asserted: Iterable[Value],
            agg_sig_data: bytes,
        ) -> Bundle:
            changed = conditions(coin, fee, amounts, list(asserted))
            return signed_spend(key, coin, to_list(changed), agg_sig_data)

        return spend_differently

    return other


def _made(address: bytes, amounts: Iterable[int]) -> list[Value]:
    return [condition(CREATE_COIN, address, amount) for amount in amounts if amount]


def _fee(fee: int) -> Value:
    return condition(RESERVE_FEE, fee)


LATE = int_to_atom(1 << 31)

locks_fee_coins = _spending(
    lambda coin, fee, amounts, asserted: [
        *(*asserted, _fee(fee), condition(ASSERT_BEFORE_HEIGHT_ABSOLUTE, LATE)),
        *_made(coin.puzzle_hash, amounts),
    ]
)
"""Spend a fee coin with a lock."""

pays_elsewhere = _spending(
    lambda coin, fee, amounts, asserted: [*asserted, _fee(fee), *_made(bytes(32), amounts)]
)
"""Spend a fee coin with its change to another address."""

keeps_no_change = _spending(lambda coin, fee, amounts, asserted: [*asserted, _fee(fee)])
"""Spend a fee coin without change."""

asserts_nothing = _spending(
    lambda coin, fee, amounts, asserted: [_fee(fee), *_made(coin.puzzle_hash, amounts)]
)
"""Spend a fee coin whatever else is spent."""

# --- the wallet --------------------------------------------------------------------------------


def changes_coins(with_coin: Callable[..., Any]) -> Callable[..., Any]:
    """Take another coin for each offer."""

    def other(fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer) -> Any:
        after = with_coin(fee_wallet, fee_state, replace(offer, coin=None))
        return after if after.coin is not None else with_coin(fee_wallet, fee_state, offer)

    return other


# --- raises --------------------------------------------------------------------------------------


@events
def forgets_rate(peer: Peer, event: Event) -> Event | None:
    """Forget the estimate of the node with each new connection."""
    if not isinstance(event, Connected) or not peer.state.fees.rate:
        return event
    peer.state = replace(peer.state, fees=replace(peer.state.fees, rate=0))
    return Connected()


# --- answers of the node -------------------------------------------------------------------------


@reactions
def reports_drops_again(
    reach: Reach, peer: Peer, event: Event, effects: list[Effect]
) -> list[Effect]:
    """Tell the player of a dropped spend each time."""
    known = any(isinstance(effect, Push | Tell) for effect in effects)
    if not isinstance(event, Dropped) or known:
        return effects
    return [Tell(SpendDropped(event.name))]


def replaces_in_vain(fee_wallet: FeeWallet, fee_state: FeeState, offer: Offer, *others: Any) -> Any:
    """Answer a pin with the own spend again, for twice the fee."""
    offer = replace(offer, fee=2 * offer.fee)
    return offer, fee_wallet.push(offer)
