"""Check the fees that a watcher offers from its own coins while the process of its side is down.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chia_rs import PrivateKey

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.refusals import UNKNOWN_UNSPENT
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.simulation.promises.fee_offers import offered, together
from channelsim.channel.simulation.promises.fee_payments import (
    TOLERANCE,
    wanted_fee,
    wrong_payment,
)
from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    SpendIsDropped,
)
from channelsim.channel.watch.watcher import Sight, Step
from channelsim.games.amounts import counted

LONGER_FEE = 1_000_000
"""More than the cost of the bytes by which a higher fee is longer."""

MOST_OVER = 2
"""An offer is at most so many times the wanted fee."""


@dataclass(frozen=True, slots=True)
class WatchWallet:
    """The key of a watcher's fee coins, and the most mojos that it pays for a spend.

    Its file has the `unused` keys, too, which come first.
    """

    key: PrivateKey
    most: int
    unused: tuple[PrivateKey, ...] = ()

    @property
    def address(self) -> bytes:
        """The address of the coins."""
        return address_of(self.key)

    @property
    def keys(self) -> tuple[PrivateKey, ...]:
        """All keys of the file."""
        return (*self.unused, self.key)


@dataclass(frozen=True, slots=True)
class WatcherTurn:
    """One turn of a watcher: what it saw, the bundles that it pushed, and the node's answers.

    At its address it had coins of these `amounts`, in mojos. Bundles with its spend are `pending`
    after it. Before it, the node asked `rate` mojos per cost; it `failed` a call perhaps. The user
    sees these `notices`. If its process has not pushed its spend before, bundles with that were
    pending `earlier`.
    """

    sight: Sight
    pushed: Sequence[tuple[Bundle, PushResult]]
    pending: Sequence[PendingBundle]
    amounts: Sequence[int]
    rate: int
    failed: bool = False
    notices: Sequence[Notice] = ()
    earlier: Sequence[PendingBundle] = ()


def wrong_drops(turn: WatcherTurn) -> Iterator[str]:
    """Find a spend that a user should not hear of any more, or of whose drop it should."""
    kinds = {type(notice) for notice in turn.notices}
    if turn.sight.spend is None:
        for kind in kinds & {FeeAtMaximum, SpendIsDropped}:
            yield f"says {kind.__name__} of a spend that is not due"
    elif turn.pushed and not turn.failed:
        (_, last) = turn.pushed[-1]
        if last.answer is Answer.ACCEPTED and SpendIsDropped in kinds:
            yield "says that its spend was dropped, which the node has taken"
        if last.answer is Answer.KNOWN and not turn.pending and SpendIsDropped not in kinds:
            yield "does not say that its spend was dropped"


@dataclass(slots=True)
class _Spend:
    """The spend that is due, as one turn offers it: with this fee at most, from coins that can pay
    `room` mojos.

    `cost` is that of the bundle with this fee, and `results` are the answers to such bundles.
    """

    name: str
    room: int
    fee: int
    cost: int
    waits: int
    before: int | None
    results: list[tuple[bool, PushResult]]


@dataclass(slots=True)
class WatchFees:
    """The offers of the watchers of one side; `confirmations` is its depth of what is final.

    One has pushed its spend at the height `pushed_at`, and was hampered at `failed_at`. It asks for
    the `rate` once for a height, `rate_at`. The highest fee for the spend of the coin `key` was
    `highest`. `is_taken`: this process has offered it at this height, and a node has taken it.
    """

    wallet: WatchWallet
    confirmations: int
    pushed_at: int = -1
    failed_at: int = -1
    rate_at: int = -1
    rate: int = 0
    key: bytes = b""
    highest: int = 0
    is_taken: bool = False

    def begin(self) -> None:
        """Note that a watcher starts again: it asks for the rate, and offers what is due."""
        self.pushed_at, self.rate_at, self.is_taken = -1, -1, False

    def follow(self, turn: WatcherTurn) -> Iterator[str]:
        """Find what is wrong with the fees of one turn."""
        sight = turn.sight
        self.failed_at = sight.peak if turn.failed else self.failed_at
        if self.rate_at != sight.peak:
            self.rate_at, self.rate = sight.peak, turn.rate
        yield from self._wrong_notices(turn)
        if sight.spend is None:
            return
        name = "preemption" if sight.step is Step.STALE else "timeout form"
        if not turn.pushed:
            if self.pushed_at != sight.peak:
                yield f"does not offer its {name} with a new block"
            return
        is_same = spend_key(sight) == self.key and self.failed_at != sight.peak
        if self.pushed_at == sight.peak and self.is_taken and is_same and _can_pay(turn):
            yield f"offers its {name} again, and no block has come"
        self.pushed_at = sight.peak
        self.is_taken = turn.pushed[-1][1].answer is Answer.ACCEPTED
        ours = {spend.coin.id for spend in sight.spend.spends}
        most = self.wallet.most if sight.step is Step.STALE else sight.stake - 1
        most = max(0, min(most, self.wallet.most))
        offers = [(offered(bundle, self.wallet.address), result) for bundle, result in turn.pushed]
        for offer, _ in offers:
            yield from wrong_payment(name, offer, self.wallet.address, ours)
            fee = sum(payment.fee for payment in offer.payments)
            if fee > most:
                yield f"CH-FEE-2: it offers {counted(fee, 'mojo')} for a {name}, at most {most:,}"
        own = [(one, result) for one, result in offers if {*one.spends} == {*sight.spend.spends}]
        room = min(most, max(turn.amounts, default=0))
        if not own or room < LEAST_RAISE or self.failed_at == sight.peak:
            return
        fees = [sum(payment.fee for payment in one.payments) for one, _ in own]
        highest = max(range(len(own)), key=lambda index: fees[index])
        spend = _Spend(
            name=name,
            room=room,
            fee=fees[highest],
            cost=cost_of(own[highest][0].bundle),
            waits=0 if sight.due is None else sight.peak - sight.due,
            before=None if sight.latest is None else sight.latest + 1,
            results=[(bool(one.payments), result) for one, result in own],
        )
        resumed = min(room, self._resumed(turn))
        if fees[0] < resumed:
            how = f"begins with {fees[0]:,} for a {name} that has {resumed:,} already"
            yield f"CH-FEE-3: it {how}"
        yield from self._wrong_amount(turn, spend)
        yield from self._left_alone(turn, spend)
        yield from _left_in_pin(turn, spend, self.wallet.address)

    def _wrong_notices(self, turn: WatcherTurn) -> Iterator[str]:
        """Find what a user should not hear of fees, and what it should."""
        has_failed = self.failed_at == turn.sight.peak
        kinds = {type(notice) for notice in turn.notices}
        if FeesUnknown in kinds and not has_failed:
            yield "says that its node does not answer about fees"
        if (NoFeeCoin in kinds) == _can_pay(turn) and not has_failed:
            yield f"says {'' if _can_pay(turn) else 'not '}that it has no coin for fees"

    def _resumed(self, turn: WatcherTurn) -> int:
        """The mojos that an earlier process has in a mempool for what is due."""
        earlier = (offered(other.bundle, self.wallet.address) for other in turn.earlier)
        return max((sum(payment.fee for payment in one.payments) for one in earlier), default=0)

    def _wrong_amount(self, turn: WatcherTurn, spend: _Spend) -> Iterator[str]:
        """Find a fee that is less than a spend of its age should pay, or far more."""
        key = spend_key(turn.sight)
        earlier = max(self.highest if key == self.key else 0, self._resumed(turn))
        self.key, self.highest = key, max(earlier, spend.fee)
        since = turn.sight.peak - spend.waits
        asked = self.rate * spend.cost
        wanted = wanted_fee(
            asked, spend.room, spend.before, since, turn.sight.peak, self.confirmations
        )
        waits = f"a {spend.name} that waits for {counted(spend.waits, 'block')}"
        most = max(MOST_OVER * wanted, earlier) + LEAST_RAISE
        is_taken = all(result.answer is Answer.ACCEPTED for _, result in spend.results)
        if spend.fee + LEAST_RAISE <= TOLERANCE * wanted:
            fee = counted(spend.fee, "mojo")
            yield f"CH-FEE-3: it offers {fee} for {waits}, at most {spend.room:,}"
        elif spend.before is not None and is_taken and TOLERANCE * spend.fee > most:
            yield f"CH-FEE-3: it offers as much as {counted(spend.fee, 'mojo')} for {waits}"
        told = (notice.fee for notice in turn.notices if isinstance(notice, FeeAtMaximum))
        if any(told_fee + LEAST_RAISE <= spend.room for told_fee in told):
            yield f"CH-FEE-3: it says that the fee of its {spend.name} cannot rise"

    def _left_alone(self, turn: WatcherTurn, spend: _Spend) -> Iterator[str]:
        """Find a spend that is offered without a coin that is unknown too early, or never."""
        unknown = any(paid and one.error == UNKNOWN_UNSPENT for paid, one in spend.results)
        left = None if spend.before is None else spend.before - turn.sight.peak
        is_late = left is not None and left <= self.confirmations + 1
        is_late = is_late or spend.waits > self.confirmations
        is_alone = any(not paid for paid, _ in spend.results)
        if unknown and is_alone != is_late:
            how = "already offers" if is_alone else "does not offer"
            yield f"CH-FEE-3: it {how} its {spend.name} without a coin that is unknown"


def _can_pay(turn: WatcherTurn) -> bool:
    return any(amount >= LEAST_RAISE for amount in turn.amounts)


def spend_key(sight: Sight) -> bytes:
    """The id of the coin whose spend is due."""
    return sight.spend.spends[0].coin.id if sight.spend is not None else b""


def _left_in_pin(turn: WatcherTurn, spend: _Spend, address: bytes) -> Iterator[str]:
    """Find a pin that is not replaced though it pays less: another payment of ours takes the place
    of one that it has."""
    conflicts = {Answer.PENDING_CONFLICT}
    if {result.answer for _, result in spend.results} != conflicts or not turn.pending:
        return
    union = together(turn.pending, turn.sight.spend.spends if turn.sight.spend is not None else ())
    if union is None:
        return
    fee = sum(pin.fee for pin in turn.pending)
    whole = sum(pin.cost for pin in turn.pending)
    pays_enough = fee * spend.cost >= TOLERANCE * spend.fee * whole
    if pays_enough or 2 * (whole + spend.cost) > BLOCK_COST:
        return
    pins = (offered(pin.bundle, address) for pin in turn.pending)
    paid = sum(payment.fee for pin in pins for payment in pin.payments)
    more = LONGER_FEE if paid else spend.cost
    need = paid + max(LEAST_RAISE, fee * more // max(whole, 1) + 1)
    pinned_coins = {pinned.coin for pinned in union}
    is_replaced = any(
        {pushed.coin for pushed in bundle.spends} >= pinned_coins for bundle, _ in turn.pushed
    )
    if need <= spend.room and not is_replaced:
        yield f"CH-FEE-3: it leaves its {spend.name} in a bundle that pays less than its own"
