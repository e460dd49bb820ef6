"""Measure which spends with a deadline get into full blocks, by the maximum of their fee.

In each trial the honest side owes one spend of a kind. When it offers it, blocks have room, so that
the node's estimate is no fee. Then someone pins it, and a crowd comes: from now on every block is
full at the crowd's rate. The fee has to rise to what the spend costs together with the pin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace
from rich.console import Console

from channelsim.channel.adversaries.pins import MOST_COST, pin_cost, pin_fee, pinned
from channelsim.channel.attack.disputes import dispute_script
from channelsim.channel.attack.session import Observer
from channelsim.channel.attack.world import run_observed
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.chain.mempool_items import LEAST_RAISE, Limits
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Effect, Push
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.report.tables import show_table
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.session_events import Handled, Pushed, SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.crowd import FULL_BLOCKS, MOST_GIVEN, CrowdedChain, CrowdSize
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.terms import TOGETHER
from channelsim.games import registry
from channelsim.games.amounts import counted

STAYS = 20
"""Blocks that the crowd fills: more than any deadline leaves."""

RAISES = 10
"""Raises that the bound allows for, each by the least that mempools take."""

FUNDING = "funding"

AMPLE = 10_000_000_000
"""A maximum with which a spend that nobody pins is in at once."""

SPENDS = {
    FUNDING: ("dead", 8),
    "unroll": ("wrong-reveal", 8),
    "preempt": ("stale-previous", 8),
    "move": ("leaver", 4),
    "redo": ("dead", 8),
    "slash": ("wrong-reveal", 8),
}
"""The kinds of spends with a deadline, each with an adversary and its step: against it, the honest
side owes one."""

PINS = (0, 1_000_000_000, MOST_COST)
"""Costs of pins; at most what a bundle can cost besides the pinned spend."""

SHARES = (0.0, 0.5, 1.0, 2.0)
"""The maxima of fees that are tried, as shares of the bound."""

MakeNode = Callable[[int], FarmableChain]


@dataclass(frozen=True, slots=True)
class Node:
    """A kind of node: how a new chain of it is made, and the limits of its blocks and mempool."""

    make: MakeNode
    limits: Limits


EMBEDDED = Node(SimulatedChain, Limits())


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
    """A spend: the `blocks` after which it was in (None: never), and the `fee` for it.

    `cost` is that of its bundle without the pin, and `pins` counts those that the node took.
    """

    blocks: int | None
    fee: int
    cost: int
    pins: int


class _Over(Exception):
    """The spend is in, or it is too late."""


class _TrialChain(CrowdedChain):
    """A crowded chain on which a trial runs."""

    trial: _TrialRun

    def farm(self, blocks: int = 1) -> None:
        """Make blocks one by one, with the trial before and after each."""
        for _ in range(blocks):
            self.trial.pin()
            super().farm()
            self.trial.look()


class _TrialRun:
    """A listener to the run of a trial, which pins the spend and lets the crowd come."""

    def __init__(self, trial: Trial, seed: str, rate: int, node: Node) -> None:
        self._trial, self._rate, self._node = trial, rate, node
        self._secret = derive(seed.encode(), "pins")
        self._key = wallet_key(self._secret, "pins")
        self._scenario = scenario_of(trial, seed)
        self._coin: Coin | None = None
        self._since = self._before = 0
        self._offers: list[Bundle] = []
        self._payers: set[Coin] = set()
        self._pins = 0
        self._outcome: Outcome | None = None

    def outcome(self) -> Outcome:
        """Run the trial."""
        script, chain = dispute_script(self._scenario), self._chain()
        with suppress(_Over):
            run_observed(script, Observer(self), on=chain)
        if self._outcome is None:
            raise InvariantError(f"no {self._trial.spend} was due")
        return self._outcome

    def _chain(self) -> FarmableChain:
        pending = None if self._trial.mempool else FULL_BLOCKS
        chain = self._node.make(node_seed(self._scenario.seed.encode()))
        if self._trial.pin:
            chain.give(address_of(self._key), MOST_GIVEN)
        size = CrowdSize(self._rate, STAYS, pending, self._node.limits)
        self.chain = _TrialChain(chain, self._secret, size)
        self.chain.trial = self
        return self.chain

    def __call__(self, event: SessionEvent) -> None:
        """Follow the honest side's pushes."""
        ours = NAMES[self._scenario.honest]
        match event:
            case Handled(name, _, effects) if name == ours:
                for effect in effects:
                    self._begin(effect)
            case Pushed(name, _, bundle) if name == ours:
                if self._coin in {spend.coin for spend in bundle.spends}:
                    self._offers.append(bundle)
            case _:
                pass

    def _begin(self, effect: Effect) -> None:
        """Let the crowd come with the first push of the spend that has a deadline."""
        match effect:
            case Push(name=name, bundle=bundle, before=int(before)) if self._coin is None:
                if name.split("+")[0] == self._trial.spend:
                    self._coin = bundle.spends[0].coin
                    self._since, self._before = self.chain.peak(), before
                    self.chain.begin()
            case _:
                pass

    # --- the pin, before each block ---

    def pin(self) -> None:
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

    def look(self) -> None:
        """End the run once the spend is in a block, or its deadline is there."""
        seen = self.chain.coin(self._coin.id) if self._coin is not None else None
        if seen is None or (seen.spent is None and self.chain.peak() < self._before):
            return
        mined = [bundle for bundle in self._offers if self._is_mined(bundle)]
        # An offer without a fee may be a part of the bundle that is in.
        bundle = max(mined, key=lambda bundle: len(bundle.spends), default=None)
        blocks = self.chain.peak() - self._since if bundle is not None else None
        self._outcome = Outcome(blocks, *self._fee_and_cost(bundle), self._pins)
        raise _Over

    def _is_mined(self, bundle: Bundle) -> bool:
        return all(
            (seen := self.chain.coin(spend.coin.id)) and seen.solution == spend.solution
            for spend in bundle.spends
        )

    def _fee_and_cost(self, bundle: Bundle | None) -> tuple[int, int]:
        """The fee and cost of a mined bundle without the pin."""
        if bundle is None:
            return 0, 0
        spends = [spend for spend in bundle.spends if spend.coin not in self._payers]
        fee = sum(
            spend.coin.amount
            - sum(child.coin.amount for child in self.chain.children(spend.coin.id))
            for spend in spends
        )
        return fee, cost_of(Bundle(tuple(spends), bundle.signature))


def scenario_of(trial: Trial, seed: str) -> Scenario:
    """A dispute in which the honest side owes this spend, at this maximum."""
    adversary, step = SPENDS[trial.spend]
    # The last game without a deck has several rounds: the honest side owes every kind of spend.
    game = max(game.name for game in registry.channel_games() if not game.deck_positions)
    # In all, enough for the spends before it, too.
    terms = replace(TOGETHER, max_fee=trial.most, max_fees=4 * trial.most)
    return Scenario((game,), seed, adversary, step, Side.RECEIVER, terms=terms)


def run_trial(trial: Trial, seed: str, rate: int, node: Node = EMBEDDED) -> Outcome:
    """Run a trial on a node, with a crowd that pays this rate."""
    return _TrialRun(trial, seed, rate, node).outcome()


# --- the table -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """The outcomes of a spend whose maximum is each of `SHARES` of the `bound`, which suffices.

    The bound is the rate × (`cost` + `pin`), and the least raise for each of some raises.
    """

    spend: str
    pin: int
    mempool: bool
    cost: int
    bound: int
    outcomes: tuple[Outcome, ...]

    @property
    def as_promised(self) -> bool:
        """True if the spend is in with every maximum from the bound on."""
        pairs = zip(SHARES, self.outcomes, strict=True)
        return all(outcome.blocks is not None for share, outcome in pairs if share >= 1)


def cost_of_spend(spend: str, seed: str, rate: int) -> int:
    """The cost of a spend with the fee that it needs when nobody pins it."""
    return run_trial(Trial(spend, 0, AMPLE, mempool=False), seed, rate).cost


def bound_of(cost: int, pin: int, rate: int) -> int:
    """The maximum fee that suffices for a spend of this cost, and a pin of this one."""
    return rate * min(cost + pin, MOST_COST) + RAISES * LEAST_RAISE


def rows(
    seed: str,
    rate: int,
    node: Node = EMBEDDED,
    spends: Sequence[str] = tuple(SPENDS),
    pins: Sequence[int] = PINS,
) -> Iterator[Row]:
    """Measure the outcomes, in the order of the table."""
    for spend in spends:
        # The same on every node, but for a few bytes.
        cost = cost_of_spend(spend, seed, rate)
        for mempool in (False, True):
            for pin in pins:
                bound = bound_of(cost, pin, rate)
                trials = [Trial(spend, pin, int(share * bound), mempool) for share in SHARES]
                outcomes = tuple(run_trial(trial, seed, rate, node) for trial in trials)
                yield Row(spend, pin, mempool, cost, bound, outcomes)


MILLION = 1_000_000


def show_outcomes(out: Console, rate: int, table: Sequence[Row]) -> None:
    """Print the table of maximum fees and outcomes, costs and fees in millions."""
    shares = ["none" if not share else f"{share:g} × bound" for share in SHARES]
    show_table(
        out,
        ("spend", "full", "its cost", "pin's cost", "bound", *shares),
        [
            (
                row.spend,
                "mempool" if row.mempool else "blocks",
                f"{row.cost / MILLION:,.0f}",
                f"{row.pin / MILLION:,.0f}" if row.pin else "none",
                f"{row.bound / MILLION:,.0f}",
                *map(_text, row.outcomes),
            )
            for row in table
        ],
        left=2,
        title="maximum fee and outcome, in millions, in blocks full at"
        f" {counted(rate, 'mojo')} per cost",
    )


def _text(outcome: Outcome) -> str:
    if outcome.blocks is None:
        return "not in"
    return f"{counted(outcome.blocks, 'block')}, {outcome.fee / MILLION:,.0f}"
