"""Measure which spends with a deadline get into full blocks, by the maximum of their fee.

In each run the honest side owes one spend of a kind. When it offers it, blocks have room, so that
the node's estimate is no fee. Then someone pins it, and a crowd comes: from now on every block is
full at the crowd's rate. The fee has to rise to what the spend costs together with the pin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from channelsim.channel.adversaries.pins import MOST_COST, pin_cost, pin_fee, pinned
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.chain.mempool_items import Limits
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Push
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.session.session_events import Handled, Pushed, SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.crowd import FULL_BLOCKS, PURSE, CrowdedChain, CrowdSize
from channelsim.channel.simulation.scenario import Scenario

STAYS = 40
"""Blocks that the crowd fills: more than any deadline leaves."""

RAISES = 10
"""Raises that a maximum has to allow for, each by the least that mempools take."""

SPENDS = {
    "funding": "",
    "unroll": "silent",
    "preempt": "stale-previous",
    "move": "silent",
    "redo": "dead",
    "slash": "wrong-reveal",
}
"""The kinds of spends with a deadline, and an adversary against which the honest side owes one."""

PINS = (0, 1_000_000_000, MOST_COST)
"""Costs of pins; at most what a bundle can cost besides the pinned spend."""

MakeNode = Callable[[int], FarmableChain]


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: the spend, the pin's cost (0: none), the maximum fee, and how full all is.

    With `mempool`, the crowd fills all of it, and otherwise only the next blocks.
    """

    spend: str
    pin: int
    most: int
    mempool: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a spend: the `blocks` after which it was in (None: never), and the `fee` for it.

    `cost` is that of its bundle without the pin, and `pins` counts those that the node took.
    """

    blocks: int | None
    fee: int
    cost: int
    pins: int


class _Over(Exception):
    """The spend is in, or it is too late."""


class _TrialChain(CrowdedChain):
    """A crowded chain that calls back before and after each block."""

    before: Callable[[], None]
    after: Callable[[], None]

    def farm(self, blocks: int = 1) -> None:
        for _ in range(blocks):
            self.before()
            super().farm()
            self.after()


class _TrialRun:
    """A listener to the run of a trial, which pins the spend and lets the crowd come."""

    def __init__(self, trial: Trial, seed: str, rate: int, node: MakeNode, limits: Limits) -> None:
        self._trial, self._rate, self._limits = trial, rate, limits
        self._node = node
        self._secret = derive(seed.encode(), "pins")
        self._key = wallet_key(self._secret, "pins")
        self._scenario = scenario_of(trial, seed)
        self._coin: Coin | None = None
        self._since = self._until = 0
        self._offers: dict[Bundle, int] = {}
        self._payers: set[Coin] = set()
        self._pins = 0
        self._outcome: Outcome | None = None

    def outcome(self) -> Outcome:
        """Run the trial."""
        arena = Arena(self._scenario, [self], self._chain)
        try:
            arena.run()
        except _Over:
            pass
        if self._outcome is None:
            raise InvariantError(f"no {self._trial.spend} was due")
        return self._outcome

    def _chain(self, seed: int) -> FarmableChain:
        pending = None if self._trial.mempool else FULL_BLOCKS
        chain = self._node(seed)
        if self._trial.pin:
            chain.give(address_of(self._key), PURSE)
        size = CrowdSize(self._rate, STAYS, pending, self._limits)
        self.chain = _TrialChain(chain, self._secret, size)
        self.chain.before, self.chain.after = self._pin, self._look
        return self.chain

    def __call__(self, event: SessionEvent) -> None:
        """Follow the honest side's pushes."""
        match event:
            case Handled(name, _, effects) if self._coin is None and self._is_ours(name):
                for effect in effects:
                    if isinstance(effect, Push) and effect.name.split("+")[0] == self._trial.spend:
                        self._begin(effect)
                        break
            case Pushed(name, _, bundle, _) if self._is_ours(name):
                if self._coin in {spend.coin for spend in bundle.spends}:
                    self._offers.setdefault(bundle, len(self._offers))
            case _:
                pass

    def _is_ours(self, name: str) -> bool:
        return name == NAMES[self._scenario.honest]

    def _begin(self, push: Push) -> None:
        self._coin = push.bundle.spends[0].coin
        self._since = self.chain.peak()
        self._until = self._since + 12
        self.chain.begin()

    # --- the pin, before each block ---

    def _pin(self) -> None:
        """Pin the spend while that is cheap: at the crowd's rate a pin would be in a block."""
        if self._coin is None or not self._trial.pin:
            return
        for pending in self.chain.pending(self._coin.id):
            coins = [seen.coin for seen in self.chain.coins_at(address_of(self._key))]
            payer = max(coins, key=lambda coin: coin.amount)
            cost = pin_cost(pending, self._trial.pin)
            fee = pending.fee + pin_fee(pending, cost)
            if payer in {spend.coin for spend in pending.bundle.spends}:
                continue
            if fee >= self._rate * (pending.cost + cost):
                continue
            pin = pinned(pending, self._key, payer, self._trial.pin, self.chain.agg_sig_data())
            if pin is not None and self.chain.push(pin).answer is Answer.ACCEPTED:
                self._pins += 1
                self._payers.add(payer)

    # --- the outcome, after each block ---

    def _look(self) -> None:
        if self._coin is None:
            return
        seen = self.chain.coin(self._coin.id)
        mined = seen is not None and seen.spent is not None
        if not mined and self.chain.peak() < self._until:
            return
        ours = [bundle for bundle in self._offers if mined and self._is_mined(bundle)]
        if ours:
            bundle = max(ours, key=lambda bundle: len(bundle.spends))
            self._outcome = Outcome(
                self.chain.peak() - self._since, self._fee(bundle), 0, self._pins
            )
        else:
            self._outcome = Outcome(None, 0, 0, self._pins)
        raise _Over

    def _is_mined(self, bundle: Bundle) -> bool:
        for spend in bundle.spends:
            seen = self.chain.coin(spend.coin.id)
            if seen is None or seen.solution != spend.solution:
                return False
        return True

    def _fee(self, bundle: Bundle) -> int:
        """The fee of a mined bundle, without what pins paid."""
        fee = 0
        for spend in bundle.spends:
            if spend.coin not in self._payers:
                made = self.chain.children(spend.coin.id)
                fee += spend.coin.amount - sum(child.coin.amount for child in made)
        return fee


def scenario_of(trial: Trial, seed: str) -> Scenario:
    """A dispute in which the honest side owes this spend, at this maximum."""
    return Scenario(
        ("spacepoker",),
        seed,
        SPENDS[trial.spend],
        8 if trial.spend != "funding" else 0,
        fees=trial.most // 20,
    )


def run_trial(
    trial: Trial, seed: str, rate: int, node: MakeNode = SimulatedChain, limits: Limits = Limits()
) -> Outcome:
    """Run a trial on a node with these limits, whose crowd pays this rate."""
    return _TrialRun(trial, seed, rate, node, limits).outcome()
