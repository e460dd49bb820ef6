"""Fees that the honest side offered and paid, as its bundles and the chain show them.

Nothing of the peer's own fee_state of fees is used. Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.observations import Block, CoinSeen, PendingBundle
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import Effect, Watch
from channelsim.channel.simulation.run import Run
from channelsim.clsp.values import BadValue, NotAList, Value, atom_to_int, deserialize, from_list


@dataclass(frozen=True, slots=True)
class Payment:
    """The spend of a fee coin: what it asserts, pays and creates.

    `others` are the codes of other conditions. `made` are the addresses and amounts of its coins.
    """

    spend: Spend
    asserted: frozenset[bytes]
    fees: tuple[int, ...]
    made: tuple[tuple[bytes, int], ...]
    others: tuple[bytes, ...]

    @property
    def coin(self) -> Coin:
        """The fee coin."""
        return self.spend.coin

    @property
    def fee(self) -> int:
        """The mojos that it pays."""
        return sum(self.fees)

    @property
    def missing(self) -> int:
        """The mojos that it loses beside its fee."""
        return self.coin.amount - self.fee - sum(amount for _, amount in self.made)


def payment_of(spend: Spend) -> Payment:
    """Read the spend of a fee coin."""
    asserted, fees, made, others = set(), [], [], []
    for condition in _conditions(spend.solution):
        match condition:
            case (b"\x40", (bytes(coin_id), b"")):
                asserted.add(coin_id)
            case (b"\x34", (bytes(fee), b"")):
                fees.append(atom_to_int(fee))
            case (b"\x33", (bytes(address), (bytes(amount), b""))):
                made.append((address, atom_to_int(amount)))
            case (bytes(code), _):
                others.append(code)
            case _:
                others.append(b"")
    return Payment(spend, frozenset(asserted), tuple(fees), tuple(made), tuple(others))


def _conditions(solution: bytes) -> list[Value]:
    """The conditions in the solution `(() (q . conditions) ())` of the standard puzzle."""
    try:
        match deserialize(solution):
            case (b"", ((b"\x01", conditions), (b"", b""))):
                return from_list(conditions)
            case _:
                return [b""]
    except (BadValue, NotAList):
        return [b""]


@dataclass(frozen=True)
class Offered:
    """A bundle that the honest side pushed: its payments, and the other spends."""

    bundle: Bundle
    payments: tuple[Payment, ...]
    spends: tuple[Spend, ...]

    @property
    def coins(self) -> frozenset[bytes]:
        """The ids of the coins that it spends."""
        return frozenset(spend.coin.id for spend in self.bundle.spends)

    @property
    def paid_for(self) -> frozenset[bytes]:
        """The ids of the coins that it spends and is not paying from."""
        return frozenset(spend.coin.id for spend in self.spends)

    @property
    def is_ours(self) -> bool:
        """True if it holds nothing but the spends that one payment is for."""
        return all(payment.asserted == self.paid_for for payment in self.payments)

    def fee_for(self, coin_id: bytes) -> int:
        """The mojos that it pays for the spend of this coin."""
        return sum(payment.fee for payment in self.payments if coin_id in payment.asserted)

    def first(self, payment: Payment) -> Coin:
        """The fee coin on chain that a payment comes from: its coin may be the change of others."""
        there = {other.coin.id: other.coin for other in self.payments}
        coin = payment.coin
        while coin.parent in there:
            coin = there[coin.parent]
        return coin


def offered(bundle: Bundle, address: bytes) -> Offered:
    """The payments in a bundle are the spends of coins at this address."""
    ours = [spend for spend in bundle.spends if spend.coin.puzzle_hash == address]
    spends = tuple(spend for spend in bundle.spends if spend.coin.puzzle_hash != address)
    return Offered(bundle, tuple(map(payment_of, ours)), spends)


@dataclass(frozen=True, slots=True)
class FeeWallet:
    """The fee coins that the honest side sees in a block: unspent ones, and the fees paid."""

    unspent: Mapping[bytes, Coin]
    paid: int


def fee_coins_in(block: Block, address: bytes) -> FeeWallet:
    """Find the fee coins at this address in a block."""
    ours = [seen for seen in block.coins if seen.coin.puzzle_hash == address]
    unspent = {seen.coin.id: seen.coin for seen in ours if seen.spent is None}
    return FeeWallet(unspent, sum(_paid(seen, ours) for seen in ours if seen.spent is not None))


def together(pending: Iterable[PendingBundle], wanted: Iterable[Spend]) -> set[Spend] | None:
    """The spends of pending bundles and of ours; None if they cannot be in one bundle."""
    spends = {spend for one in pending for spend in one.bundle.spends} | set(wanted)
    return spends if len({spend.coin for spend in spends}) == len(spends) else None


def awaits_fee_coins(fees: Fees | None, effects: Iterable[Effect]) -> bool:
    """True if the next report of a block has more fee coins: what is due may wait for them.

    A spend can be pinned alone.
    """
    watched = (effect.coin for effect in effects if isinstance(effect, Watch))
    return fees is not None and any(
        coin.puzzle_hash == fees.wallet.coin.puzzle_hash for coin in watched
    )


def _paid(seen: CoinSeen, ours: Iterable[CoinSeen]) -> int:
    if seen.solution is not None:
        return payment_of(Spend(seen.coin, b"", seen.solution)).fee
    change = sum(other.coin.amount for other in ours if other.coin.parent == seen.coin.id)
    return seen.coin.amount - change


def spends_with_fee(run: Run) -> int:
    """The number of spends of the honest side for which fee coins paid in the end."""
    fees = run.parties[run.scenario.honest].peer.config.fees
    if fees is None:
        return 0
    wallet = fees.wallet.coin
    paid: set[bytes] = set()
    coins = [wallet.id]
    for coin_id in coins:
        seen = run.chain.coin(coin_id)
        if seen is None or seen.spent is None or seen.solution is None:
            continue
        payment = payment_of(Spend(seen.coin, b"", seen.solution))
        paid |= payment.asserted if payment.fee else set()
        coins += [child.coin.id for child in run.chain.children(coin_id)]
    return len(paid)
