"""The weather of a scenario: what the chain and the honest side's node do to a dispute.

It may strike at deadlines: heights at which something ends or begins for a peer.
Source: spec/channel.md, "Opening", "The potato" and "Going on chain".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, FarmableChain, PushResult, with_children
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.chain.refusals import ALREADY_INCLUDING, FEE_TOO_CLOSE_TO_ZERO
from channelsim.channel.session.driver import Delivery
from channelsim.channel.simulation.deadlines import Deadline
from channelsim.channel.simulation.reorganisations import Reorganisations
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games.chance import Chance

MOST_CUT_OFF = 5
"""Blocks in a row that the honest side may not hear of; it can still answer within its times."""

MOST_FULL = 4
"""The number of full blocks in a row."""

MOST_HIDDEN = 4
"""Blocks for which the honest side's node does not give the solution of a spend."""

TYPICAL_COST = 20_000_000
"""The cost of a spend that costs a scenario's `fees`."""

FULL = PushResult(Answer.REFUSED, FEE_TOO_CLOSE_TO_ZERO)
"""The node's answer to bundles while blocks are full."""

MOST_FORGOTTEN = 4
"""Blocks for which a node does not take bytes again that it has dropped."""

MOST_DROPPED = 2
"""The most bundles with the spend of one coin that a node drops."""

FORGOTTEN = PushResult(Answer.KNOWN, ALREADY_INCLUDING)
"""The node's answer to bytes that it has dropped."""

PERMANENTLY_INVALID = frozenset(
    (
        "BAD_AGGREGATE_SIGNATURE",
        "DUPLICATE_OUTPUT",
        "EPHEMERAL_RELATIVE_CONDITION",
        "GENERATOR_RUNTIME_ERROR",
    )
)
"""The embedded node's errors for bundles that it can never accept."""


class Weather(Delivery):
    """A scenario's weather, with random choices of its own.

    Only the honest side suffers from it, but for reorganisations and full blocks. Sides that have
    `ended` hear of no block any more. `struck` has the deadlines whose blocks were replaced.
    """

    def __init__(
        self,
        scenario: Scenario,
        chain: FarmableChain,
        chance: Chance,
        push: Callable[[Bundle], PushResult] | None = None,
    ) -> None:
        super().__init__(chain, push)
        self.reorganisations = Reorganisations(chain, scenario.game_timeout)
        self.ended: set[int] = set()
        self.struck: set[Deadline] = set()
        self._scenario = scenario
        self._chance = chance
        self._cut_off = 0
        self._full = 0
        self._shown_from: dict[tuple[bytes, int], int] = {}
        self._invalid: set[Bundle] = set()
        self._taken_from: dict[Bundle, int] = {}
        self._drops: Counter[bytes] = Counter()

    def offer(self, index: int, bundle: Bundle) -> PushResult | None:
        """Offer a bundle to the node; blocks may be full.

        A permanently invalid bundle is offered once; None for repeats, which are dropped, since the
        node is slow to refuse them. A forgetful node says that it takes what it drops at once.
        """
        if bundle in self._invalid:
            return None
        forgotten = self._forgets(bundle) if self._is(index, "forgetful") else None
        if forgotten is not None:
            return forgotten
        result = FULL if self._full else self.push(bundle)
        if result.error in PERMANENTLY_INVALID:
            self._invalid.add(bundle)
        return result

    def _forgets(self, bundle: Bundle) -> PushResult | None:
        """The answer to a bundle that the node drops, or has dropped; None for others."""
        peak = self._chain.peak()
        if bundle in self._taken_from:
            return FORGOTTEN if peak < self._taken_from[bundle] else None
        coin_id = bundle.spends[0].coin.id
        if self._drops[coin_id] == MOST_DROPPED or not self._chance.chance(30):
            return None
        self._drops[coin_id] += 1
        self._taken_from[bundle] = peak + self._chance.between(2, MOST_FORGOTTEN)
        return PushResult(Answer.ACCEPTED)

    def after_block(self) -> None:
        """Perhaps replace the last blocks, or let the next ones be full."""
        if self._scenario.weather == "full":
            begins = not self._full and self._chance.chance(20)
            self._full = self._chance.between(1, MOST_FULL) if begins else max(0, self._full - 1)
        reorganisations = self.reorganisations
        if self._scenario.weather != "reorgs" or not reorganisations.has_rested:
            return
        if not self._chance.chance(30):
            return
        back = self._chance.between(1, self._scenario.confirmations)
        if reorganisations.can_replace(back):
            more = self._chance.between(1, 2)
            reorganisations.replace(back, more, keep=self._chance.chance(50))

    def strike(self, deadlines: Iterable[tuple[int, Deadline]]) -> bool:
        """Perhaps replace the newest block, if it is at one of these deadlines; true if it did.

        Both sides have acted on it, and what they pushed since is lost or gets in a block earlier.
        """
        peak = self._chain.peak()
        kinds = {kind for height, kind in deadlines if height == peak}
        reorganisations = self.reorganisations
        if self._scenario.weather != "deadlines" or not kinds or not reorganisations.has_rested:
            return False
        if not reorganisations.can_replace(1) or not self._chance.chance(50):
            return False
        reorganisations.replace(1, 1, keep=self._chance.chance(50))
        self.struck |= kinds
        return True

    def rewind(self, back: int, bundle: Bundle | None = None) -> bool:
        """Replace this many blocks for an adversary; False where that cannot be.

        One block more than `confirmations` takes back what the honest side counts as final. With
        a `bundle`, which is to fund the channel, there is no rest: no timeout runs yet.
        """
        reorganisations = self.reorganisations
        deepest = self._scenario.confirmations + 1
        if not 1 <= back <= deepest or not reorganisations.can_replace(back):
            return False
        if bundle is None and not reorganisations.has_rested:
            return False
        reorganisations.replace(back, 1, keep=bundle is not None, bundle=bundle)
        return True

    def reaches(self, index: int) -> bool:
        """Cut the honest side off for some blocks, and a side that has ended for good."""
        if index in self.ended:
            return False
        if not self._is(index, "cut-off"):
            return True
        if self._cut_off == 0 and self._chance.chance(15):
            self._cut_off = self._chance.between(1, MOST_CUT_OFF)
        self._cut_off = max(0, self._cut_off - 1)
        return self._cut_off == 0

    def breaks(self) -> bool:
        """Break the connection at some messages."""
        return self._scenario.weather == "reconnects" and self._chance.chance(15)

    def fee_rate(self, index: int) -> int:
        """The rate that the node asks; that of the honest side may ask more."""
        rate = super().fee_rate(index)
        if index != self._scenario.honest:
            return rate
        return max(rate, -(-self._scenario.fees // TYPICAL_COST))

    def delay(self, index: int) -> int:
        """Hold some bundles of the honest side back for a block or two."""
        if not self._is(index, "slow") or not self._chance.chance(50):
            return 0
        return self._chance.between(1, 2)

    def view(self, index: int, block: Block) -> Block:
        """Hide the solutions that the honest side's node does not give yet."""
        if not self._is(index, "blind"):
            return block
        coins = (self._hide(seen, block.peak) for seen in block.coins)
        return Block(block.peak, with_children(self._chain, block.peak, coins))

    def _is(self, index: int, weather: str) -> bool:
        """True if this is the weather, and the peer with this index is the honest one."""
        return self._scenario.weather == weather and index == self._scenario.honest

    def _hide(self, seen: CoinSeen, peak: int) -> CoinSeen:
        if seen.spent is None:
            return seen
        spend = seen.coin.id, seen.spent
        if spend not in self._shown_from:
            self._shown_from[spend] = peak + self._chance.between(0, MOST_HIDDEN)
        return seen if peak >= self._shown_from[spend] else replace(seen, solution=None)
