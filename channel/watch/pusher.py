"""Pushing a watcher's spends, with fees from small coins whose key it holds.

That key spends these coins and nothing else. What was offered is only in memory: after a restart, a
fee follows from the age of its spend, and what is pending shows what the fee has to exceed.
Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from chia_rs import PrivateKey
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import Answer, Chain, PushResult, pending_with
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.refusals import UNKNOWN_UNSPENT, is_judged
from channelsim.channel.chain.rpc import NodeError
from channelsim.channel.chain.validation import checked
from channelsim.channel.peer.fee_settings import SHARE_OF_SPEND
from channelsim.channel.peer.fees.answers import react
from channelsim.channel.peer.fees.coins import FeeCoins, paid_by
from channelsim.channel.peer.fees.fee_state import FeeState, Offer, key_of
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.fees.paying import pay
from channelsim.channel.peer.interface import Dropped, Effect, FeeLimits, Pinned, Push, Refused
from channelsim.channel.peer.push_answers import fate
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.watch.watch_data import WatchedChannel
from channelsim.channel.watch.watcher import Sight, Step, Watcher

MOST_COINS = 10
"""Fee coins that are used: the largest. Anybody can send small ones to a known address."""

MOST_NEWER = 10
"""Pending bundles in which a newer state is looked for: each of several nodes has one at most."""

T = TypeVar("T")


# --- notices for the user ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoFeeCoin:
    """There is no coin from which a fee can be paid: this address needs one of `least` mojos."""

    address: bytes
    least: int


@dataclass(frozen=True, slots=True)
class StakeTooSmall:
    """The default maximum, this many mojos, is less than the least raise: no fee is paid."""

    most: int


@dataclass(frozen=True, slots=True)
class FeeAtMaximum:
    """The spend is not confirmed, and its fee cannot rise: for its limit, or for its coin's amount
    (`coin_is_small`)."""

    fee: int
    coin_is_small: bool


@dataclass(frozen=True, slots=True)
class SpendIsDropped:
    """The node has dropped the spend, and takes the same bytes no more (CH-FEE-4)."""


@dataclass(frozen=True, slots=True)
class FeesUnknown:
    """The node does not answer what has to be known of fees, for this reason."""

    reason: str


Notice: TypeAlias = NoFeeCoin | StakeTooSmall | FeeAtMaximum | SpendIsDropped | FeesUnknown


@dataclass(frozen=True, slots=True)
class Offered:
    """The node's answer to the spend that is due, and the most mojos that it can cost as it is."""

    result: PushResult
    fee: int = 0


# --- the pusher ----------------------------------------------------------------------------------


class Pusher:
    """Pushes the spends of one channel's watcher.

    Fees come from coins at the address of one of the `keys`; without a key, there are none. `most`
    are the mojos that a spend may cost (None: the same share of the stake as for peers).
    """

    def __init__(
        self, channel: WatchedChannel, keys: Sequence[PrivateKey] = (), most: int | None = None
    ) -> None:
        self._channel = channel
        self._keys = tuple(keys)
        self._most = most
        self._key = keys[0] if keys else None
        self._coins: tuple[Coin, ...] = ()
        self._known_at: int | None = None
        self._book = FeeState()
        self._last: tuple[int, Bundle, Offered] | None = None
        self._newer: Bundle | None = None
        self._trouble = ""

    def push(self, chain: Chain, watcher: Watcher, sight: Sight) -> Offered | None:
        """Offer the spend that is due, if there is one. Raises `NodeError`.

        With a fee, it is offered once for each height: each offer may be higher than the last.
        """
        if self._key is not None and self._known_at != sight.peak:
            self._refresh(chain, sight)
        if sight.spend is None:
            self._book = replace(self._without_offers(), dropped=())
            self._last = self._newer = None
            return None
        fee_wallet = self._fee_wallet(sight.peak)
        if fee_wallet is None:
            return self._carry_out(chain, None, self._without_offers(), [_push_of(sight)])
        last = self._last
        if last is not None and last[:2] == (sight.peak, sight.spend):
            return last[2]
        try:
            offered = self._with_fee(chain, watcher, sight, fee_wallet)
        except NodeError as error:
            # The spend itself must not wait for what its fee needs.
            self._trouble = str(error)
            return Offered(chain.push(sight.spend))
        if _is_lasting(offered.result):
            self._last = sight.peak, sight.spend, offered
        return offered

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the user should know now."""
        notices: list[Notice] = []
        if self._key is not None and self._most != 0:
            if self._trouble:
                notices.append(FeesUnknown(self._trouble))
            share = self._channel.coin.amount // SHARE_OF_SPEND
            if self._most is None and share < LEAST_RAISE:
                notices.append(StakeTooSmall(share))
            elif self._known_at is not None and not self._coins:
                notices.append(NoFeeCoin(address_of(self._key), LEAST_RAISE))
        for offer in self._book.offers:
            if offer.reported and offer.coins:
                small = offer.fee + LEAST_RAISE > sum(coin.amount for coin in offer.coins)
                notices.append(FeeAtMaximum(offer.most, small))
        if self._book.dropped:
            notices.append(SpendIsDropped())
        return tuple(notices)

    def _without_offers(self) -> FeeState:
        return self._book.only((), final=frozenset())

    def _refresh(self, chain: Chain, sight: Sight) -> None:
        """Ask for the fee coins and the fee rate, which hold until the next block."""
        self._trouble = ""
        found = self._answer(lambda: self._fee_coins(chain, due=sight.spend is not None))
        if found is not None:
            self._key, self._coins = found
            self._known_at = sight.peak
        rate = self._answer(chain.fee_rate)
        if rate is not None:
            self._book = replace(self._book, rate=rate)

    def _fee_coins(self, chain: Chain, *, due: bool) -> tuple[PrivateKey, tuple[Coin, ...]]:
        """The key with the largest coin, and its coins.

        A spend that is due does not wait for a list of all coins at an address, of which anybody
        can make many: as long as the known ones are unspent, they do.
        """
        if due and self._key is not None and self._coins:
            seen = (chain.coin(coin.id) for coin in self._coins)
            if all(coin is not None and coin.spent is None for coin in seen):
                return self._key, self._coins
        listed = [(key, _coins(chain, key)) for key in self._keys]
        return max(listed, key=lambda found: [coin.amount for coin in found[1]])

    def _answer(self, ask: Callable[[], T]) -> T | None:
        try:
            return ask()
        except NodeError as error:
            self._trouble = str(error)
            return None

    def _fee_wallet(self, peak: int) -> FeeWallet | None:
        """The wallet for fees at this height; None if no fees are paid."""
        if self._key is None:
            return None
        unspent = tuple(sorted(self._coins, key=lambda coin: (coin.amount, coin.id)))
        all_money = sum(coin.amount for coin in unspent)
        fee_wallet = FeeWallet(
            key=self._key,
            coins=FeeCoins(unspent, (), 0),
            limits=FeeLimits(self._most, None if self._most is None else all_money),
            peak=peak,
            confirmations=self._channel.confirmations,
            total=self._channel.coin.amount,
            agg_sig_data=self._channel.agg_sig_data,
        )
        return fee_wallet if unspent and fee_wallet.is_used else None

    def _with_fee(
        self, chain: Chain, watcher: Watcher, sight: Sight, fee_wallet: FeeWallet
    ) -> Offered:
        """Offer the spend with the fee that is due; the owner's own one, if that is better."""
        push = _push_of(sight)
        pending = chain.pending(key_of(push))
        newer = self._newer_than_ours(watcher, sight, pending)
        if newer is not None:
            push = Push(push.name, newer, push.stake, push.before)
            if any(spend.coin in fee_wallet.coins.unspent for spend in newer.spends):
                # Paid for before a restart: its fee stays as it is.
                return Offered(_answer_to(chain, push)[0])
        fee_state = self._book
        if fee_state.offer(key_of(push)) is None:
            fee_state = fee_state.with_offer(_resumed(fee_wallet, push, sight, pending))
        fee_state, effects = pay(fee_wallet, fee_state, [push], ready=0, scan=True)
        offered = self._carry_out(chain, fee_wallet, fee_state, effects)
        taken = offered.result.answer in (Answer.ACCEPTED, Answer.TOO_EARLY)
        # A node may have made the owner's spend up, with coins that nobody knows.
        lasts = _is_lasting(offered.result) or (
            newer is not None and offered.result.error == UNKNOWN_UNSPENT
        )
        if not taken and lasts:
            # Perhaps only the fee coin is spent, or another watcher with this key pays from it.
            result, _ = _answer_to(chain, push)
            if result.answer is Answer.ACCEPTED:
                return Offered(result)
            if newer is not None:
                self._newer = None
                return Offered(_answer_to(chain, _push_of(sight))[0])
        return offered

    def _newer_than_ours(
        self, watcher: Watcher, sight: Sight, pending: Sequence[PendingBundle]
    ) -> Bundle | None:
        """The bundle that spends our coin to a newer state: the owner knows more than these data.

        A fee must not drive it out, so it is paid for in the place of our spend. What is pending
        has our fee coin too, later on; then it is as it was at first. A node may make bundles up,
        but not the signatures of a state.
        """
        if self._newer is not None and not watcher.pays_newer(self._newer, sight):
            self._newer = None  # the data were copied again
        for other in pending[:MOST_NEWER]:
            if not watcher.pays_newer(other.bundle, sight):
                continue
            if self._newer is not None and set(self._newer.spends) <= set(other.bundle.spends):
                break
            if checked(other.bundle, self._channel.agg_sig_data) is not None:
                self._newer = _beginning_with(key_of(_push_of(sight)), other.bundle)
                break
        return self._newer

    def _carry_out(
        self,
        chain: Chain,
        fee_wallet: FeeWallet | None,
        fee_state: FeeState,
        effects: Sequence[Effect],
    ) -> Offered:
        """Push, react to the node's answers, and take the last of them."""
        result = PushResult(Answer.REFUSED)
        pushes = [effect for effect in effects if isinstance(effect, Push)]
        while pushes:
            push = pushes.pop(0)
            result, event = _answer_to(chain, push)
            if event is not None:
                fee_state, more = react(fee_wallet, fee_state, event)
                pushes += [effect for effect in more if isinstance(effect, Push)]
        if result.answer is Answer.ACCEPTED:
            fee_state = replace(fee_state, dropped=())
        self._book = fee_state
        return Offered(result, max((offer.most for offer in fee_state.offers), default=0))


def _answer_to(chain: Chain, push: Push) -> tuple[PushResult, Pinned | Dropped | Refused | None]:
    """The node's answer to a push, and the event that follows from it."""
    result = chain.push(push.bundle)
    return fate(push.bundle, result, pending_with(chain, push.bundle, result))


def _is_lasting(result: PushResult) -> bool:
    """True unless a node may take the same bytes later: one that was busy, or lacks a coin."""
    return result.benign or (is_judged(result.error) and result.error != UNKNOWN_UNSPENT)


def _coins(chain: Chain, key: PrivateKey) -> tuple[Coin, ...]:
    """The coins at the address of a key that can pay a fee, the largest first."""
    coins = (seen.coin for seen in chain.coins_at(address_of(key)))
    large = [coin for coin in coins if coin.amount >= LEAST_RAISE]
    return tuple(sorted(large, key=lambda coin: (-coin.amount, coin.id))[:MOST_COINS])


def _push_of(sight: Sight) -> Push:
    """The spend that is due, as a peer pushes it."""
    assert sight.spend is not None
    name = "preempt" if sight.step is Step.STALE else "unroll-timeout"
    before = None if sight.latest is None else sight.latest + 1
    return Push(name, sight.spend, sight.stake, before)


def _beginning_with(coin_id: bytes, bundle: Bundle) -> Bundle:
    """The bundle with the spend of this coin as its first, by which an offer is known."""
    spends = sorted(bundle.spends, key=lambda spend: spend.coin.id != coin_id)
    return Bundle(tuple(spends), bundle.signature)


def _resumed(
    fee_wallet: FeeWallet, push: Push, sight: Sight, pending: Sequence[PendingBundle]
) -> Offer:
    """The first offer for a spend; what an earlier process offered for it, if that is pending."""
    since = sight.peak if sight.due is None else sight.due
    offer = Offer(push, since)
    for other in pending:
        spent = (spend.coin for spend in other.bundle.spends)
        coins = [coin for coin in spent if coin in fee_wallet.coins.unspent]
        if coins:
            second = coins[1] if len(coins) > 1 else None
            offer = fee_wallet.with_cost(replace(offer, coin=coins[0], second=second))
            paid = sum(paid_by(coin, other.bundle) for coin in offer.coins)
            return replace(offer, fee=max(0, min(paid, fee_wallet.most(FeeState(), offer))))
    return offer
