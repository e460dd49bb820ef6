"""What a watcher sees of a channel on chain, and the spend that it can make: without a key.

It preempts a stale state of the counterparty with the newest state, and publishes the timeout
form of any other state once that is due. Every other spend needs a key, which it does not have;
`fees` pays for these two from coins of its own.
Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.spend_parsing import (
    channel_conditions,
    created_coins,
    read_unroll,
    unroll_conditions,
)
from channelsim.channel.protocol.unroll import (
    paid_number,
    timeout_form,
    to_unroll,
    unroll_puzzle,
)
from channelsim.channel.watch.watch_data import WatchData, WatchedState
from channelsim.clsp.values import serialize, tree_hash


class Step(Enum):
    """How far the channel has come on chain."""

    ABSENT = "the channel coin is not there"
    OPEN = "the channel is open"
    STALE = "the counterparty published a stale state"
    PUBLISHED = "a state is published"
    PAID = "a state paid out"
    SHUT = "a clean shutdown closed the channel"
    UNKNOWN = "the channel went to a state that these data do not have"


@dataclass(frozen=True, slots=True)
class Sight:
    """What the chain shows at one height, and the spend that is due.

    `state` is the number of the state that was published, or that paid. `since` is the height of
    the last change, `due` the height from which the spend is made, and `latest` the last one
    at which the counterparty cannot pin a spend of its own. `late`: two thirds of that time are
    over. `final`: nothing more will happen. `stake` are the mojos that the spend is about.
    """

    step: Step
    peak: int
    state: int | None = None
    since: int | None = None
    due: int | None = None
    latest: int | None = None
    spend: Bundle | None = None
    late: bool = False
    final: bool = False
    stake: int = 0

    def ended_well(self, newest: int) -> bool:
        """True for a clean shutdown, and for a payout of this newest state or a later one."""
        if self.step is Step.PAID and self.state is not None:
            return self.state >= newest
        return self.step is Step.SHUT


class Watcher:
    """A channel's watcher. `wait` are the blocks that it leaves the owner to preempt first."""

    def __init__(self, data: WatchData, wait: int) -> None:
        self._data = data
        self._wait = wait
        amount = data.channel.coin.amount
        self._by_channel_spend: dict[bytes, WatchedState] = {}
        self._by_unroll_coin: dict[bytes, WatchedState] = {}
        self._by_unroll_spend: dict[bytes, int] = {}
        self._by_payout: dict[tuple[tuple[bytes, int], ...], list[int]] = {}
        for state in data.states.values():
            conditions = state.value()
            locked = timeout_form(conditions, data.channel.unroll_timeout)
            spent_to = tree_hash(to_unroll(state.puzzle_hash, amount))
            self._by_channel_spend[spent_to] = state
            self._by_unroll_coin[state.puzzle_hash] = state
            self._by_unroll_spend[tree_hash(conditions)] = state.number
            self._by_unroll_spend[tree_hash(locked)] = state.number
            paid = read_unroll(state.conditions)
            if paid is not None:
                self._by_payout.setdefault(tuple(sorted(paid.coins)), []).append(state.number)

    def look(self, chain: Chain) -> Sight:
        """Look at the chain, with a few calls of the node, however many states there are."""
        peak, channel = chain.peak(), self._data.channel
        seen = chain.coin(channel.coin.id)
        if seen is None:
            return Sight(Step.ABSENT, peak)
        if seen.spent is None:
            return Sight(Step.OPEN, peak, since=seen.born)
        final = peak - seen.spent >= channel.confirmations
        if seen.solution is not None:
            made = created_coins(seen.solution)
            conditions = channel_conditions(seen.solution)
            state = self._by_channel_spend.get(conditions) if conditions is not None else None
        else:
            # The publisher can make the solution too large for a node to give.
            made = tuple(_coins_of(chain.children(channel.coin.id)))
            state = self._by_unroll_coin.get(made[0][0]) if len(made) == 1 else None
        if made and all(address in channel.rewards for address, _ in made):
            return Sight(Step.SHUT, peak, since=seen.spent, final=final)
        unroll = chain.coin(self._unroll_coin(state).id) if state is not None else None
        if state is None or unroll is None:
            return Sight(Step.UNKNOWN, peak, since=seen.spent, final=final)
        if unroll.spent is not None:
            number = self._paid_by(chain, state, unroll)
            final = peak - unroll.spent >= channel.confirmations
            step = Step.UNKNOWN if number is None else Step.PAID
            return Sight(step, peak, number, unroll.spent, final=final)
        return self._unrolled(peak, state, unroll)

    def pays_newer(self, bundle: Bundle, sight: Sight) -> bool:
        """True if a bundle spends the coin of our spend to a newer state than ours does.

        A state that these data do not have is newer than they are.
        """
        if sight.spend is None:
            return False
        (ours,) = sight.spend.spends
        number = self._data.newest.state.number if sight.step is Step.STALE else sight.state
        for spend in bundle.spends:
            if spend.coin == ours.coin:
                conditions = unroll_conditions(spend.solution)
                theirs = self._by_unroll_spend.get(conditions) if conditions is not None else None
                return theirs is None or number is None or theirs > number
        return False

    def _paid_by(self, chain: Chain, published: WatchedState, unroll: CoinSeen) -> int | None:
        """The number of the state that a spent unroll coin paid; None if it is unknown."""
        if unroll.solution is not None:
            conditions = unroll_conditions(unroll.solution)
            return self._by_unroll_spend.get(conditions) if conditions is not None else None
        paid = tuple(sorted(_coins_of(chain.children(unroll.coin.id))))
        age = (unroll.spent or 0) - unroll.born
        timed_out = age >= self._data.channel.unroll_timeout
        return paid_number(self._by_payout.get(paid, ()), published.number, timed_out=timed_out)

    def _unrolled(self, peak: int, state: WatchedState, unroll: CoinSeen) -> Sight:
        """The sight of an unroll coin that is not spent."""
        channel, newest = self._data.channel, self._data.newest
        timeout = unroll.born + channel.unroll_timeout
        theirs = state.number % 2 != channel.side
        if theirs and state.number < newest.state.number:
            due = unroll.born + min(self._wait, channel.unroll_timeout)
            spend = self._preempt(state) if peak >= due else None
            late = 3 * (peak - unroll.born) > 2 * channel.unroll_timeout
            stake = channel.coin.amount
            # From the timeout on, the other side can pin its own spend.
            latest = timeout - 1
            return Sight(
                *(Step.STALE, peak, state.number, unroll.born, due, latest, spend),
                late=late,
                stake=stake,
            )
        spend = self._time_out(state) if peak >= timeout else None
        return Sight(
            *(Step.PUBLISHED, peak, state.number, unroll.born, timeout),
            spend=spend,
            stake=self._owners(state),
        )

    def _owners(self, state: WatchedState) -> int:
        """The mojos that a state pays its owner, and those of its live games."""
        paid = read_unroll(state.conditions)
        others = self._data.channel.rewards[1 - self._data.channel.side]
        return sum(amount for address, amount in paid.coins if address != others) if paid else 0

    def _unroll_coin(self, state: WatchedState) -> Coin:
        coin = self._data.channel.coin
        return Coin(coin.id, state.puzzle_hash, coin.amount)

    def _preempt(self, stale: WatchedState) -> Bundle:
        newest = self._data.newest
        return Bundle((self._spend(stale, newest.state.conditions),), newest.signature)

    def _time_out(self, state: WatchedState) -> Bundle:
        locked = timeout_form(state.value(), self._data.channel.unroll_timeout)
        return Bundle((self._spend(state, serialize(locked)),), NO_SIGNATURE)

    def _spend(self, state: WatchedState, solution: bytes) -> Spend:
        channel = self._data.channel
        puzzle = unroll_puzzle(
            channel.unroll_key, channel.unroll_timeout, state.number, state.value()
        )
        return Spend(self._unroll_coin(state), puzzle.serialized, solution)


def _coins_of(children: list[CoinSeen]) -> list[tuple[bytes, int]]:
    """The puzzle hashes and amounts of the coins that a spend created."""
    return [(child.coin.puzzle_hash, child.coin.amount) for child in children]
