"""Check that the honest side pays for its spends in the bundles of others, as CH-FEE-3 says.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from channelsim.channel.chain.coins import Bundle, Spend
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.validation import checked, cost_of
from channelsim.channel.peer.interface import Pinned, Push
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.simulation.promises.fee_offers import Offered, offered, together
from channelsim.channel.simulation.promises.fee_payments import TOLERANCE, wanted_fee
from channelsim.channel.simulation.promises.fee_risk import FeeRisk
from channelsim.games.amounts import counted

PAYMENT_COST = 10_000_000
"""A bound on the cost of the spend of a fee coin."""

MOST_ANSWERS = 6
"""Offers of a spend in one block after which it may wait for the next one."""

IN_TURN = 3
"""Blocks after which a pin was replaced, and as many more as there are others beside it."""


@dataclass(slots=True)
class Line:
    """The newest offer for a spend that is due, which waits since this height for a deadline.

    It `began` with another deadline perhaps, before a reorganisation. `answers` counts the offers
    at `height`, and `highest` is the most that it was offered for. Its fee `may_fall` if the node
    does not have it, or refuses it, and `may_creep` if the node refuses it for its fee: then it is
    not pending. It `may_shrink`, to fewer coins, if the node does not know one of them, and pays as
    ever with the next block. If it `is_unsure`, the next offer may be one for a spend that is due
    anew. So many spends of ours were `together` in one bundle with it at most.
    """

    push: Push
    offer: Offered
    since: int
    cost: int
    began: int
    height: int = 0
    answers: int = 0
    highest: int = 0
    may_fall: bool = False
    may_creep: bool = False
    may_shrink: bool = False
    is_unsure: bool = False
    together: int = 1


@dataclass(slots=True)
class PinDuties:
    """The pins of one side's spends: the heights at which it heard of each, and at which it last
    offered a replacement.

    `agg_sig_data` are those of its network, and `confirmations` its depth of what is final.
    """

    risk: FeeRisk
    address: bytes
    agg_sig_data: bytes
    confirmations: int
    pushed: Set[frozenset[Spend]]
    _heights: dict[frozenset[Spend], set[int]] = field(default_factory=dict)
    _replaced: dict[frozenset[Spend], int] = field(default_factory=dict)

    def follow(
        self, event: Pinned, line: Line, offers: Sequence[Offered], peak: int
    ) -> Iterator[str]:
        """Find a pin that is not replaced though it pays less, or replaced in vain."""
        earlier = self._heard_of(event, line.since, peak)
        for offer in offers:
            mine = frozenset(offer.bundle.spends)
            for pin in self._heights:
                if pin != mine and {one.coin.id for one in pin} <= offer.coins:
                    self._replaced[pin] = peak
        yield from self._left_in_turn(event, line, peak)
        if line.answers > MOST_ANSWERS:
            return
        spends = together(event.pending, line.offer.spends)
        pins = [offered(one.bundle, self.address) for one in event.pending]
        # A later offer replaces what holds nothing but this spend.
        is_copy = any({*pin.spends} == {*line.offer.spends} for pin in pins)
        if spends is None or is_copy or any({*pin.bundle.spends} in self.pushed for pin in pins):
            return
        if sum(len(pin.coins) for pin in pins) > len({coin for pin in pins for coin in pin.coins}):
            return  # Of several nodes: what is signed in both would be in one bundle twice.
        key, name = line.offer.spends[0].coin.id, line.push.name
        union = offered(Bundle(tuple(spends), b""), self.address)
        fee = sum(one.fee for one in event.pending)
        whole = sum(one.cost for one in event.pending)
        pays_enough = fee * line.cost >= TOLERANCE * line.offer.fee_for(key) * whole
        if event.pending and not any(self._is_in_the_way(line, one) for one in event.pending):
            foreign = {*union.spends} - {*line.offer.spends}
            if any(foreign & {*offer.spends} for offer in offers):
                yield f"CH-FEE-3: it pays for a bundle that is not in the way of its {name}"
            others = {frozenset(bid.bundle.spends) for bid in offers if key in bid.coins}
            # Where it replaced a pin, what it replaced the pin for may be offered as it was.
            used = {frozenset(event.bundle.spends)} if self._replaces(event) else self.pushed
            if not others - used and not pays_enough and self.risk.room(line.push, line.offer) > 1:
                yield f"CH-FEE-4: it offers a dropped {name} in no other bytes"
            return
        replacements = [
            offer
            for offer in offers
            if offer.coins >= union.coins and {*offer.bundle.spends} != {*union.bundle.spends}
        ]
        paid = union.fee_for(key)
        known = self._known(event.pending)
        said_or_true = (
            [event.pending, known] if len(known) == len(event.pending) else [event.pending]
        )
        for offer in replacements:
            more = offer.fee_for(key) - paid
            cost = cost_of(offer.bundle)
            if not any(_outbids(pins, more, cost) for pins in said_or_true):
                yield f"CH-FEE-3: no mempool takes its replacement of a pinned {name}"
        # One that was there with an earlier block did not get in, whatever it pays. A node that has
        # dropped a replacement may take it with the next block.
        replaced = {self._replaced.get(frozenset(one.bundle.spends)) for one in event.pending}
        if replacements or replaced == {peak} or (pays_enough and not earlier):
            return
        if self._can_pay(line, event.pending):
            yield f"CH-FEE-3: it leaves its {name} in a bundle that pays less than its own"

    def _replaces(self, event: Pinned) -> bool:
        """True if the bundle has all coins of a pin, with some that no other push of ours has."""
        bundle = frozenset(event.bundle.spends)
        ours = {spend.coin for pushed in self.pushed if pushed != bundle for spend in pushed}
        coins = {spend.coin for spend in bundle}
        pins = ({spend.coin for spend in pin} for pin in self._heights)
        return any(pin <= coins and pin - ours for pin in pins)

    def _heard_of(self, event: Pinned, since: int, peak: int) -> bool:
        """Note the pins of an event; true if one of them was there at an earlier height, while the
        spend was due."""
        pins = {frozenset(one.bundle.spends) for one in event.pending} - self.pushed
        for pin in pins:
            self._heights.setdefault(pin, set()).add(peak)
        return any(since <= height < peak for pin in pins for height in self._heights[pin])

    def _left_in_turn(self, event: Pinned, line: Line, peak: int) -> Iterator[str]:
        """Find a pin that is never replaced, beside others or because of what its node says of it:
        the peer replaces them one after the other, and finds out by itself what each pays."""
        for one in event.pending:
            pin = frozenset(one.bundle.spends)
            heights = self._heights.get(pin, set())
            joins = together([one], line.offer.spends) is not None
            blocks = sum(line.since <= height < peak for height in heights)
            is_old = blocks >= IN_TURN + len(event.pending) - 1
            if pin in self._replaced or not (is_old and joins and self._is_in_the_way(line, one)):
                continue
            known = self._known([one])
            if not known:
                continue
            # A split of its fee coin has to be replaced as well.
            splits = [other for other in event.pending if other is not one and _splits(line, other)]
            if self._can_pay(line, [*known, *splits]):
                self._replaced[pin] = peak
                yield f"CH-FEE-3: it replaces one of the pins of its {line.push.name} never"

    def _known(self, pins: Sequence[PendingBundle]) -> list[PendingBundle]:
        """The pins with the fees and costs that they have, whatever a node says of them; without
        those that are not valid."""
        checked_pins = ((pin.bundle, checked(pin.bundle, self.agg_sig_data)) for pin in pins)
        return [
            PendingBundle(bundle, valid.fee, valid.cost)
            for bundle, valid in checked_pins
            if valid is not None
        ]

    def _can_pay(self, line: Line, pins: Sequence[PendingBundle]) -> bool:
        """True if the maxima and the coins allow a bundle with all of these in it."""
        key = line.offer.spends[0].coin.id
        spends = tuple({spend for pin in pins for spend in pin.bundle.spends})
        paid = offered(Bundle(spends, b""), self.address).fee_for(key)
        paid += sum(pin.fee for pin in pins if _splits(line, pin))
        inside = any(spend.coin.id == key for spend in spends)
        fee, whole = sum(pin.fee for pin in pins), sum(pin.cost for pin in pins)
        extra = PAYMENT_COST if inside else PAYMENT_COST + line.cost
        if whole + extra > BLOCK_COST // 2:
            return False  # No mempool takes a bundle of more than half a block.
        need = max(LEAST_RAISE, fee * extra // max(whole, 1) + 1)
        own = [line.offer.first(payment) for payment in line.offer.payments]
        amounts = [coin.amount for coin in self.risk.free()] + [coin.amount - paid for coin in own]
        room = self.risk.left(line.push, own[-1] if own else None)
        return paid + need <= room and need <= max(amounts, default=0)

    def low(self, line: Line, offer: Offered, peak: int, rate: int) -> Iterator[str]:
        """Find a replacement that pays less than the node asks for all of it, or than its spend
        should pay by now."""
        valid = checked(offer.bundle, self.agg_sig_data)
        if len(offer.payments) != 1 or line.is_unsure or valid is None:
            return
        key, push = line.offer.spends[0].coin.id, line.push
        fee, room = offer.fee_for(key), self.risk.room(push, line.offer)
        asked = rate * valid.cost - (valid.fee - fee)
        wanted = wanted_fee(asked, room, push.before, line.since, peak, self.confirmations)
        if fee + LEAST_RAISE <= TOLERANCE * wanted:
            waits = f"a pinned {push.name} that waits for {counted(peak - line.since, 'block')}"
            yield f"CH-FEE-3: it pays {counted(fee, 'mojo')} for {waits}, at most {room:,}"

    def _is_in_the_way(self, line: Line, pin: PendingBundle) -> bool:
        """True unless mempools have this spend beside the pin: it needs no signature there."""
        own = {spend.coin: spend for spend in line.offer.spends}
        payers = {payment.coin for payment in line.offer.payments}
        if any(
            spend.coin in payers or own.get(spend.coin, spend) != spend
            for spend in pin.bundle.spends
        ):
            return True
        valid = checked(Bundle(line.offer.spends, NO_SIGNATURE), self.agg_sig_data)
        return valid is None or not all(one.repeatable for one in valid.spends.values())

    def answered(
        self, bundle: Bundle, lines: Sequence[Line], offers: Sequence[Offered]
    ) -> Iterator[str]:
        """Find a replacement that is refused for its fee, and for which nobody bids more.

        It holds the spends of these lines.
        """
        refused = offered(bundle, self.address)
        coins = {spend.coin.id for spend in refused.spends}
        if not lines or any(offer.coins >= coins for offer in offers):
            return
        if all(self._may_bid(line, refused) for line in lines):
            name = lines[0].push.name
            yield f"CH-FEE-3: it bids no more for its pinned {name}, whose fee is refused"

    def _may_bid(self, line: Line, refused: Offered) -> bool:
        """True if more can be bid for a spend with a deadline in a bundle that is refused."""
        fee = refused.fee_for(line.offer.spends[0].coin.id)
        room = self.risk.room(line.push, line.offer)
        is_due = line.push.before is not None and line.answers <= MOST_ANSWERS
        return is_due and bool(fee) and fee + max(LEAST_RAISE, fee // 3) <= room


def _splits(line: Line, pin: PendingBundle) -> bool:
    """True if a pending bundle spends fee coins of this spend, and nothing else."""
    payers = {payment.coin for payment in line.offer.payments}
    return {spend.coin for spend in pin.bundle.spends} <= payers


def _outbids(pins: Sequence[PendingBundle], more: int, cost: int) -> bool:
    """True if mempools take a bundle of this cost that pays so much more than these pins do."""
    fee, whole = sum(pin.fee for pin in pins), sum(pin.cost for pin in pins)
    return more >= LEAST_RAISE and (fee + more) * whole > fee * cost
