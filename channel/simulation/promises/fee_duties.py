"""Check that the honest side offers fees as CH-FEE-1 to CH-FEE-4 say.

It follows the side's journal: the blocks that it sees, its node's answers, and all that it pushes.
Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from channelsim.channel.chain.coins import Bundle, Spend
from channelsim.channel.chain.mempool import LEAST_RATE
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.chain.refusals import FEE_REFUSALS, UNKNOWN_UNSPENT
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    Dropped,
    Effect,
    FeeLimits,
    FeeRate,
    FeeTooLow,
    Pinned,
    Push,
    Refused,
    SpendDropped,
    Tell,
)
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.fee_offers import (
    Offered,
    awaits_fee_coins,
    fee_coins_in,
    offered,
)
from channelsim.channel.simulation.promises.fee_payments import (
    TOLERANCE,
    wanted_fee,
    wrong_payment,
)
from channelsim.channel.simulation.promises.fee_pins import MOST_ANSWERS, Line, PinDuties
from channelsim.channel.simulation.promises.fee_risk import FeeRisk
from channelsim.channel.simulation.promises.fee_splits import FeeSplits, cheap_split
from channelsim.channel.simulation.run import JournalEntry, Run
from channelsim.games.amounts import counted

MOST_OVER = 2
"""A raise leads to at most so many times the wanted fee."""


def wrong_fees(run: Run, talk: Conversation) -> Iterator[str]:
    """Find fees that the rules do not allow, and those that are missing."""
    party = run.parties[talk.side]
    monitor = _FeeMonitor(party.peer.config, party.peer.state)
    for turn in party.journal:
        yield from monitor.follow(turn)


class _FeeMonitor:
    """The fees of one side as of one event: its fee coins, its limits, and what it has offered."""

    def __init__(self, config: Config, end: PeerState) -> None:
        self.fees = fees = config.fees
        self.address = fees.wallet.coin.puzzle_hash if fees is not None else b""
        limits = FeeLimits(fees.per_spend, fees.per_channel) if fees else FeeLimits(0, 0)
        self.risk = FeeRisk(limits, sum(config.agreement.contributions))
        self.wallet = FeeSplits(fees.wallet.coin, self.risk, end) if fees is not None else None
        self.is_block = self.waits = False
        self.confirmations = config.agreement.confirmations
        self.rate = 0
        self.peak = self.peak_before = 0
        self.ours = {config.wallet.coin.id}
        self.lines: dict[bytes, Line] = {}
        self.payers: dict[bytes, tuple[set[bytes], int]] = {}
        self.pushed: set[frozenset[Spend]] = set()
        self.unpin: frozenset[Spend] = frozenset()
        self.dropped: set[frozenset[Spend]] = set()
        self.told: set[bytes] = set()
        data, depth = config.agg_sig_data, config.agreement.confirmations
        self.pins = PinDuties(self.risk, self.address, data, depth, self.pushed)

    def follow(self, turn: JournalEntry) -> Iterator[str]:
        """Check the reaction to one event."""
        self._note(turn)
        self.is_block = isinstance(turn.event, Block)
        pushes = [effect for effect in turn.effects if isinstance(effect, Push)]
        offers = [offered(push.bundle, self.address) for push in pushes]
        if self.wallet is not None and self._is_paying():
            yield from self.wallet.follow(turn, pushes)
        if isinstance(turn.event, Pinned):
            line = self._line_of(turn.event.bundle)
            if line is not None:
                yield from self.pins.follow(turn.event, line, offers, self.peak)
        if isinstance(turn.event, Pinned | Dropped | Refused):
            yield from self._answered(turn.event, offers)
        if isinstance(turn.event, Dropped):
            yield from self._left_dropped(turn.event, offers, turn.effects)
        is_early = self._is_paying() and self.is_block and self.waits
        for push, offer in zip(pushes, offers, strict=True):
            if is_early and push.before is not None and not offer.payments:
                # Alone, it can be pinned before the next report, which has a coin for it.
                yield f"CH-FEE-3: it offers its {push.name} before it hears of its fee coins"
            yield from wrong_payment(push.name, offer, self.address, self.ours, self.pushed)
            yield from self._too_much(push, offer)
            if offer.spends and offer.is_ours:
                yield from self._wrong_step(push, offer)
            if not offer.spends:
                yield from cheap_split(push, offer, self.risk, self.rate)
                yield from self._raised_split(push, offer)
            self.pushed.add(frozenset(push.bundle.spends))
            if offer.spends and not offer.is_ours:
                self.unpin = frozenset(push.bundle.spends)
                for line in self._lines_in(push.bundle)[:1]:
                    yield from self.pins.low(line, offer, self.peak, self.rate)
        for news in turn.news:
            if isinstance(news, FeeTooLow) and not self._is_stuck(news.name):
                yield f"CH-FEE-3: the fee of its {news.name} is said to be too low, and may rise"

    def _raised_split(self, push: Push, offer: Offered) -> Iterator[str]:
        """Find a split that pays more than before, unless its coin pays for another spend."""
        if self.wallet is None:
            return
        others = any(offer.coins & line.offer.coins for line in self.lines.values())
        raised = self.wallet.raised(push, offer, self.peak, self.rate, self.confirmations)
        if raised and not others:
            yield raised

    def _is_stuck(self, name: str) -> bool:
        """True if a spend of this name has a deadline, and a fee that cannot rise."""
        return any(
            line.push.before is not None
            and line.offer.fee_for(key) + LEAST_RAISE > self.risk.room(line.push, line.offer)
            for key, line in self.lines.items()
            if line.push.name.partition("+")[0] == name
        )

    def _note(self, turn: JournalEntry) -> None:
        """Take what the event says."""
        if self.wallet is not None:
            self.wallet.note(turn)
        match turn.event:
            case None:
                self.peak = turn.height
            case FeeRate(rate):
                self.rate = rate
            case FeeLimits() as limits:
                self.risk.limits = limits
            case Block(peak, coins) as block:
                self.peak_before = self.peak if peak != self.peak else self.peak_before
                self.peak, self.risk.fee_wallet = peak, fee_coins_in(block, self.address)
                self.risk.seen = {seen.coin.id: seen for seen in coins}
                self.ours |= {one.coin.id for one in coins if one.coin.puzzle_hash != self.address}
                due = {
                    effect.bundle.spends[0].coin.id
                    for effect in turn.effects
                    if isinstance(effect, Push)
                }
                self.waits = awaits_fee_coins(self.fees, turn.effects)
                if self.waits:
                    due |= self._may_be_due(coins, due)
                self.lines = {key: line for key, line in self.lines.items() if key in due}
            case Pinned() | Dropped() | Refused() as answer:
                lines = self._lines_in(answer.bundle)
                for line in lines:
                    line.together = max(line.together, len(lines))
                    self._note_answer(line, answer)
            case _:
                pass

    def _may_be_due(self, coins: Sequence[CoinSeen], due: Set[bytes]) -> set[bytes]:
        """The offers that may be due, or not, while more fee coins are awaited.

        One may have got in, and be due anew after a reorganisation.
        """
        spent = {seen.coin.id for seen in coins if seen.spent is not None}
        unsure = self.lines.keys() - spent - due
        for line in map(self.lines.__getitem__, unsure):
            line.is_unsure = line.may_fall = line.may_creep = True
        return unsure

    def _note_answer(self, line: Line, answer: Pinned | Dropped | Refused) -> None:
        """Take an answer to a bundle that has the spend of this line, perhaps among others."""
        line.answers = line.answers + 1 if line.height == self.peak else 1
        line.height = self.peak
        match answer:
            case Refused(_, error) if error in FEE_REFUSALS:
                line.may_creep = True
            case Dropped() | Refused():
                line.may_fall = line.may_creep = True
                line.may_shrink = isinstance(answer, Refused) and self._is_late(line)
            case Pinned(bundle, pending):
                fees = {spend for spend in bundle.spends if spend.coin.puzzle_hash == self.address}
                # What others offer for the same spend, and pay themselves, is in its place.
                if not any(fees & {*other.bundle.spends} for other in pending):
                    line.may_fall = line.may_creep = True

    def _line_of(self, bundle: Bundle) -> Line | None:
        spent = (self.lines.get(spend.coin.id) for spend in bundle.spends)
        return next((line for line in spent if line is not None), None)

    def _lines_in(self, bundle: Bundle) -> list[Line]:
        return [
            line for key, line in self.lines.items() if any(s.coin.id == key for s in bundle.spends)
        ]

    def _is_paying(self) -> bool:
        """True if the maxima allow fees that can be raised."""
        most, all_most = self.risk.most(Push("", Bundle((), b""), self.risk.total, 0))
        return self.wallet is not None and min(most, all_most) >= LEAST_RAISE

    # --- payments ---

    def _too_much(self, push: Push, offer: Offered) -> Iterator[str]:
        """Find fees above the maxima, and coins that pay for two spends.

        What was paid and offered before its player lowered the maxima may be above them.
        """
        before, offered = self.risk.at_stake, self.risk.offered(offer)
        if self.risk.is_shared(offer):
            yield f"CH-FEE-2: the fee coin of its {push.name} pays for another spend, too"
        self.risk.add(offer)
        if not offer.payments:
            return
        most, all_most = self.risk.most(push)
        fee = offer.fee_for(min(offer.payments[-1].asserted, default=b""))
        if offer.spends and fee > max(most, offered):
            yield f"CH-FEE-2: it offers {counted(fee, 'mojo')} for a {push.name}, at most {most:,}"
        risk = self.risk.at_stake
        if risk > max(before, all_most):
            total = counted(risk, "mojo")
            yield f"CH-FEE-2: {total} are paid and offered in all, at most {all_most:,}"

    # --- raises and pins ---

    def _wrong_step(self, push: Push, offer: Offered) -> Iterator[str]:
        """Find steps that mempools do not take, and fees below what a spend should pay by now."""
        key = offer.spends[0].coin.id
        fee, room = offer.fee_for(key), self.risk.room(push, offer)
        line = self.lines.get(key)
        if line is None and offer.payments and self._changes_payers(key, offer):
            yield f"CH-FEE-2: other coins pay for its {push.name} than before it was taken back"
        self.payers[key] = {payment.coin.id for payment in offer.payments}, self.peak
        is_alone = line is not None and line.may_shrink and not offer.payments
        if line is None:
            # It was not due meanwhile: its coin was replaced, and the node may take it again.
            self.dropped.discard(frozenset(push.bundle.spends))
        has_dropped = frozenset(push.bundle.spends) in self.dropped
        # A spend alone has the same bytes ever, and nothing else is left without the fee coin.
        if has_dropped and room >= LEAST_RAISE and not is_alone:
            yield f"CH-FEE-4: it repeats the bytes of a {push.name} that its node has dropped"
        if line is None:
            line = self.lines[key] = Line(push, offer, self.peak, cost_of(push.bundle), self.peak)
            asked = self.rate * line.cost
            if fee < TOLERANCE * min(asked, room) or TOLERANCE * fee > asked:
                begins = f"begins with {counted(fee, 'mojo')} for a {push.name}"
                yield f"CH-FEE-3: it {begins}, and its node asks {asked}"
            return
        if line.is_unsure:
            line.since, line.is_unsure = self.peak, False
        last = line.offer
        was, is_late = last.fee_for(key), self.peak >= (line.push.before or self.peak + 1)
        # A move asserts a height: from its deadline on, no mempool has it any more.
        is_gone = is_late and line.push.name.partition("+")[0] in ("move", "redo")
        pending = not is_gone and all(
            last.first(payment).id in self.risk.fee_wallet.unspent for payment in last.payments
        )
        if pending and not line.may_shrink and not last.coins <= offer.coins:
            yield f"CH-FEE-3: coins of what it replaces are not in its {push.name}"
        elif pending and (
            (fee < was and not line.may_fall)
            or (was < fee < was + LEAST_RAISE and not line.may_creep)
        ):
            replaced = f"one for {counted(was, 'mojo')} by one for {fee:,}"
            yield f"CH-FEE-3: it replaces a {push.name}: {replaced}"
        if self._rises_early(line, push, offer):
            raised = f"from {was:,} to {counted(fee, 'mojo')}"
            yield f"CH-FEE-3: it raises the fee of its new {push.name} {raised}"
        if line.push.before != push.before or last.spends != offer.spends:
            line.since = self.peak
        is_unpaid = line.may_shrink and not offer.payments
        if last.payments != offer.payments:
            line.cost = cost_of(push.bundle)
            line.may_fall = line.may_shrink = False
            line.may_creep = is_unpaid
        line.push, line.offer = push, offer
        wanted = self._wanted(line, room, line.since)
        most = MOST_OVER * self._wanted(line, self.risk.most(push)[0], line.began)
        highest, line.highest = line.highest, max(line.highest, was, fee)
        if self.is_block and fee > max(was, most, highest) + LEAST_RAISE:
            raised = f"from {was:,} to {counted(fee, 'mojo')}"
            yield f"CH-FEE-3: it raises the fee of its {push.name} {raised}"
        if not is_unpaid and fee + LEAST_RAISE <= TOLERANCE * wanted:
            yield (
                f"CH-FEE-3: it offers {counted(fee, 'mojo')} for a {push.name} that waits for"
                f" {counted(self.peak - line.since, 'block')}, at most {room:,}"
            )

    def _rises_early(self, line: Line, push: Push, offer: Offered) -> bool:
        """True if a fee rises although its spend has no deadline, and has not waited yet.

        It follows what the node asks.
        """
        key = offer.spends[0].coin.id
        is_new = push.before is None and self.peak - line.began <= self.confirmations
        is_free = line.may_creep or line.may_fall or line.may_shrink
        if not (self.is_block and is_new) or is_free or line.offer.coins != offer.coins:
            return False
        most = max(line.offer.fee_for(key), self.rate * line.cost / TOLERANCE + LEAST_RAISE)
        return offer.fee_for(key) > most

    def _changes_payers(self, key: bytes, offer: Offered) -> bool:
        """True if a coin that lately paid for a spend could pay for it again, and does not.

        Somebody could have both payments mined with the spend.
        """
        earlier, height = self.payers.get(key, (set(), 0))
        free = self.risk.free_for(offer.paid_for)
        is_recent = self.peak_before - height <= self.confirmations
        return is_recent and not earlier & free <= offer.coins

    def _wanted(self, line: Line, room: int, since: int) -> float:
        """The fee that a spend due since then should offer: from the estimate to the maximum."""
        asked, before = self.rate * line.cost, line.push.before
        return wanted_fee(asked, room, before, since, self.peak, self.confirmations)

    # --- dropped and refused bundles ---

    def _answered(
        self, event: Pinned | Dropped | Refused, offers: Sequence[Offered]
    ) -> Iterator[str]:
        """Find answers to the node without a bound, and a fee that stays though it is refused, or
        though its coin may be gone."""
        line = self._line_of(event.bundle)
        if line is None:
            return
        # A bundle of others may have several spends of ours, each of which is offered anew.
        if offers and line.answers > (MOST_ANSWERS + 2) * line.together:
            answers = counted(line.answers, "time")
            yield f"CH-FEE-4: it offers its {line.push.name} {answers} at one height"
        if not isinstance(event, Refused) or line.answers > MOST_ANSWERS:
            return
        newest = {*event.bundle.spends} == {*line.push.bundle.spends}
        if newest and event.error in FEE_REFUSALS:
            yield from self._bids_little(line, offers)
        lines = self._lines_in(event.bundle)
        ours = {spend for one in lines for spend in one.offer.spends}
        is_pin = {*offered(event.bundle, self.address).spends} > ours
        if is_pin and event.error in FEE_REFUSALS and frozenset(event.bundle.spends) == self.unpin:
            yield from self.pins.answered(event.bundle, lines, offers)
        if offers or not newest:
            return
        if event.error == UNKNOWN_UNSPENT and line.offer.payments and self._is_late(line):
            yield f"CH-FEE-3: it does not offer its {line.push.name} without a coin that is unknown"
        key = line.offer.spends[0].coin.id
        fee, room = line.offer.fee_for(key), self.risk.room(line.push, line.offer)
        may_bid = fee + LEAST_RAISE <= room
        if event.error in FEE_REFUSALS and line.push.before is not None and may_bid:
            yield f"CH-FEE-3: it bids no more for its {line.push.name}, whose fee is refused"

    def _bids_little(self, line: Line, offers: Iterable[Offered]) -> Iterator[str]:
        """Find a higher bid for a refused spend that is less than a quarter more, than its node
        asks, or than full mempools take at all."""
        key = line.offer.spends[0].coin.id
        fee, room = line.offer.fee_for(key), self.risk.room(line.push, line.offer)
        asked = max(self.rate, LEAST_RATE) * line.cost
        wanted = min(room, max(fee + fee // 4, asked))
        bids = [one.fee_for(key) for one in offers if one.is_ours and key in one.paid_for]
        if bids and fee < max(bids) and max(bids) + LEAST_RAISE <= TOLERANCE * wanted:
            bid = f"{counted(max(bids), 'mojo')} for its {line.push.name}, refused for {fee:,}"
            yield f"CH-FEE-3: it bids {bid}, and its node takes {asked:,} at least"

    def _is_late(self, line: Line) -> bool:
        """True if a spend has to be offered without a coin that its node does not know.

        Before, it waits for the next block: alone, it could be pinned in half a block.
        """
        before = line.push.before
        is_near = before is not None and before - self.peak <= self.confirmations + 1
        return is_near or self.peak - line.began > self.confirmations

    def _left_dropped(
        self, event: Dropped, offers: Iterable[Offered], effects: Iterable[Effect]
    ) -> Iterator[str]:
        """Find a dropped spend that is neither offered in other bytes nor reported, once."""
        bundle = event.bundle
        self.dropped.add(frozenset(bundle.spends))
        line = self._line_of(bundle)
        keys = [one.offer.spends[0].coin.id for one in self._lines_in(bundle)]
        if not keys or line is None or line.answers > MOST_ANSWERS:
            return
        key = keys[0]
        told = sum(effect == Tell(SpendDropped(line.push.name)) for effect in effects)
        others = (one for one in offers if one.coins.intersection(keys))
        if not any(frozenset(one.bundle.spends) not in self.dropped for one in others):
            if self.risk.room(line.push, line.offer) > 1:
                yield f"CH-FEE-4: it offers a dropped {line.push.name} in no other bytes"
            elif not told and key not in self.told:
                yield f"CH-FEE-4: its player does not know of a dropped {line.push.name}"
        if told + (key in self.told) > 1:
            yield f"CH-FEE-4: its player hears of a dropped {line.push.name} again"
        self.told |= {key} if told else set()
