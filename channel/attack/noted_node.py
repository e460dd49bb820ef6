"""The node of one runner, whose calls and answers are followed: what it asks, sees and offers.

A runner looks at the chain again and again, reports what it saw and nothing else, offers each spend
until the node has answered, and asks a bounded number of questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.kinds import REFUSALS
from channelsim.channel.attack.user_reports import NodeReports
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.observations import Block, CoinSeen, PendingBundle
from channelsim.channel.chain.refusals import NOT_JUDGED
from channelsim.channel.peer.interface import Dropped, Effect, FeeRate, Pinned, Push, Watch
from channelsim.games.amounts import counted

T = TypeVar("T")

PATIENCE = 8.0
"""Seconds in which a runner looks at the chain again, and tries a push again, of a node that
answers: two looks, or so."""

LOOKS, CALLS = 3.0, 24
"""Seconds between two looks of a runner, and the calls that it may make beside them."""

MOST_TRIES = 20
"""The tries of a push without an answer after which it waits for the next block."""

PER_PUSH = 8
"""The most calls for one push: the push itself, and what is pending for its coins."""


MOST_NAMED = 2
"""Bundles in the way of a push that are named in any case: more may be too many bytes."""


REFUSED = {
    *(*REFUSALS, *NOT_JUDGED, "ASSERT_BEFORE_HEIGHT_ABSOLUTE_FAILED"),
    "BLOCK_COST_EXCEEDS_MAX",
}
"""The refusals that a right bundle can meet, the last one if it replaces a large pin."""

ON_ITS_WAY = 0.2
"""Seconds in which a bundle is offered: what asks for the same one meanwhile is the same offer."""


@dataclass(slots=True)
class _Look:
    """The answers of the node in one look at the chain, begun at this time: the height, and each
    coin by its id. The `children` are those of the coins with the ids in `parents`."""

    peak: int
    begun: float
    coins: dict[bytes, CoinSeen | None] = field(default_factory=dict)
    children: list[CoinSeen] = field(default_factory=list)
    parents: set[bytes] = field(default_factory=set)


@dataclass(slots=True)
class NotedNode:
    """A node as its runner sees it; `time` is the virtual one in seconds, `found` takes a line."""

    node: FailingNode
    time: Callable[[], float]
    found: Callable[[str], None]
    user: NodeReports = field(init=False)
    _made_at: float = field(init=False)
    _look: _Look | None = None
    _troubled_until: float = 0.0
    _called_at: float | None = None
    _calls: int = 0
    _allowed: float = CALLS
    _block_at: float | None = None
    _watched: set[Coin] = field(default_factory=set)
    _named: set[Coin] = field(default_factory=set)
    _pushes: dict[Bundle, tuple[str, float]] = field(default_factory=dict)
    _tries: Counter[Bundle] = field(default_factory=Counter)
    _on_its_way: tuple[Bundle, float] | None = None
    _reported: int | None = None
    _other_since: float | None = None
    _untold: Bundle | None = None
    _in_the_way: tuple[Bundle, set[Bundle]] | None = None
    _asked_for: set[bytes] = field(default_factory=set)
    _rate: int | None = None
    _reported_rate: int | None = None

    def __post_init__(self) -> None:
        """Begin with a user who has heard nothing."""
        self.user = NodeReports(self.time)
        self._made_at = self.time()

    # --- the node ---

    @property
    def height(self) -> int:
        """The height of the tip, whether the node answers or not."""
        return self.node.height

    def agg_sig_data(self) -> bytes:
        """The suffix of messages to sign on this network."""
        return self.node.agg_sig_data()

    def peak(self) -> int:
        """The height of the tip. Raises `NodeError`, as all calls do."""
        peak = self._asked(self.node.peak)
        self._look = _Look(peak, self.time())
        self._compare(peak)
        return peak

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id."""
        coin = self._asked(lambda: self.node.coin(coin_id))
        if self._look is not None:
            self._look.coins[coin_id] = coin
        return coin

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        return self._asked(lambda: self.node.coins_at(puzzle_hash))

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that the spend of this one created."""
        children = self._asked(lambda: self.node.children(coin_id))
        if self._look is not None:
            self._look.children += children
            self._look.parents.add(coin_id)
        return children

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle."""
        try:
            result = self._asked(lambda: self.node.push(bundle), is_push=True)
        except NodeError:
            self._offered_in_vain(bundle)
            raise
        if result.answer is Answer.REFUSED and result.error not in REFUSED:
            self.found(f"offers a bundle that no node takes: {result.error}")
        self._untold = bundle
        conflicts = result.answer in (Answer.PENDING_CONFLICT, Answer.KNOWN)
        self._in_the_way = (bundle, set()) if conflicts else None
        self._asked_for = set()
        self._pushes.pop(bundle, None)
        self._tries.pop(bundle, None)
        self._on_its_way = bundle, self.time() + self.node.slowness + ON_ITS_WAY
        return result

    def _offered_in_vain(self, bundle: Bundle) -> None:
        """Note a push without an answer, which is tried again, but not for ever."""
        self._tries[bundle] += 1
        name, _ = self._pushes.pop(bundle, ("", 0.0))
        if self._tries[bundle] == MOST_TRIES:
            del self._tries[bundle]
        elif name:
            self._pushes[bundle] = name, self.time()

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        try:
            pending = self._asked(lambda: self.node.pending(coin_id))
        except NodeError:
            # Without this answer, nothing is known of the push before it, which is tried again.
            self._untold = self._in_the_way = None
            raise
        if self._in_the_way is not None:
            ours, others = self._in_the_way
            self._asked_for.add(coin_id)
            found = (other.bundle for other in pending)
            others |= {other for other in found if {*other.spends} != {*ours.spends}}
        return pending

    def fee_rate(self) -> int:
        """The fee rate that the node asks."""
        self._rate = self._asked(self.node.fee_rate)
        return self._rate

    def _asked(self, call: Callable[[], T], *, is_push: bool = False) -> T:
        """Ask the node; a push without an answer is no trouble of anything else."""
        now = self.time()
        quiet_since = max(self._troubled_until, self._called_at or now)
        if self._block_at is not None and now - quiet_since > PATIENCE:
            self.found(f"does not look at the chain for {now - quiet_since:.0f} s")
        self._called_at = now
        self._calls += 1
        try:
            answer = call()
        except NodeError:
            if not is_push:
                self._troubled_until = max(self._troubled_until, now)
            for how in self.user.failed():
                self.found(how)
            raise
        else:
            self.user.answered()
            return answer
        finally:
            # What an answer takes is time in which nothing else is asked.
            if self.node.slowness:
                self._troubled_until = max(self._troubled_until, now + self.node.slowness)

    def _compare(self, peak: int) -> None:
        """Find a height of which the peer does not hear, whether it is above the last or below."""
        now = self.time()
        if self._reported is None or peak == self._reported:
            self._other_since = None
            return
        self._other_since = now if self._other_since is None else self._other_since
        waits = now - max(self._other_since, self._troubled_until)
        if waits > PATIENCE:
            self.found(f"does not report the height {peak} in {waits:.0f} s")

    # --- the peer ---

    def begins(self) -> Iterator[str]:
        """Find a peer that has waited with its start, or still does, though the node answers."""
        waits = self.time() - max(self._made_at, self._troubled_until)
        if waits > PATIENCE:
            yield f"does not begin in {waits:.0f} s"

    def pushed(self, bundle: Bundle) -> None:
        """Note a push of which the user hears."""
        if self._untold == bundle:
            self._untold = None

    def starts(self, peak: int) -> None:
        """Compare the height at which a new peer starts with what its node has just said."""
        look = self._look
        if look is None or peak != look.peak:
            self.found(f"starts at the height {peak}, and not at that of its node")
        elif self.time() - max(look.begun, self._troubled_until) > PATIENCE:
            self.found(f"starts at a height that is {self.time() - look.begun:.0f} s old")

    def follow(self, event: object, effects: Sequence[Effect]) -> None:
        """Follow an event of the peer (None: its start), before its effects are carried out."""
        now = self.time()
        if isinstance(event, FeeRate):
            if event.mojos_per_cost == self._reported_rate:
                self.found(f"reports the fee rate {self._reported_rate} again")
            self._reported_rate = event.mojos_per_cost
        for how in self._mistaken_pin(event):
            self.found(how)
        waiting: dict[Bundle, tuple[str, float]] = {}
        if isinstance(event, Block):
            if self._rate != self._reported_rate:
                self.found(f"does not tell its peer of the fee rate {self._rate}")
            if self._untold is not None:
                self.found("does not tell its user of a push")
                self._untold = None
            for how in (
                *self._misreported(event),
                *self._not_offered(now),
                *self.user.block(event.peak),
            ):
                self.found(how)
            self._count(now)
            self._reported, self._other_since = event.peak, None
            self._watched |= self._named
            # The peer pushes again what is still due: it waits for as long as before.
            waiting, self._pushes = self._pushes, {}
        for effect in effects:
            if isinstance(effect, Push):
                if self._is_on_its_way(effect.bundle, now):
                    continue
                since = waiting.get(effect.bundle, ("", now))[1]
                self._pushes.setdefault(effect.bundle, (effect.name, since))
                self._allowed += PER_PUSH
            elif isinstance(effect, Watch):
                self._named.add(effect.coin)
        if any(isinstance(effect, Watch) for effect in effects):
            self._allowed += self._of_a_look()

    def _mistaken_pin(self, event: object) -> Iterator[str]:
        """Find bundles in the way of a push that the peer does not hear of, or that are none; and a
        push for which the node is not asked about each coin."""
        ours, others = self._in_the_way or (None, set[Bundle]())
        if ours is not None and isinstance(event, Pinned | Dropped | Block):
            coins = {spend.coin.id for spend in ours.spends}
            if not coins <= self._asked_for:
                many = f"{len(coins & self._asked_for)} of {counted(len(coins), 'coin')}"
                yield f"asks what is in the way of a push for {many}"
        if isinstance(event, Pinned):
            named = {other.bundle for other in event.pending}
            if event.bundle != ours or not named or not named <= others:
                yield "reports a pin that its node does not have"
            if len(named) < len(event.pending):
                yield "reports a bundle that is in the way of a push twice"
            if len(named) < min(len(others), MOST_NAMED):
                many = counted(len(others), "bundle")
                yield f"reports {len(named)} of {many} in the way of a push"
            self._in_the_way = None
        elif isinstance(event, Block | Dropped):
            self._in_the_way = None
            if others and (isinstance(event, Block) or event.bundle == ours):
                yield "does not report what is in the way of a push"

    def _is_on_its_way(self, bundle: Bundle, now: float) -> bool:
        offered, until = self._on_its_way or (None, 0.0)
        return bundle == offered and now <= until

    def _of_a_look(self) -> int:
        """The most calls of one look: height, fee rate, each coin, and the children of each."""
        return 3 + 2 * len(self._named)

    def _count(self, now: float) -> None:
        """Compare the calls since the last block with what was to be asked."""
        since = now if self._block_at is None else self._block_at
        # With each look that finds no new block the runner asks for the height alone.
        allowed = self._allowed + self._of_a_look() + 4 * (now - since) / LOOKS
        if self._block_at is not None and self._calls > allowed:
            seconds = f"{now - since:.0f} s"
            self.found(f"asks its node {counted(self._calls, 'time')} in {seconds}")
        self._calls, self._allowed, self._block_at = 0, CALLS, now

    def _misreported(self, block: Block) -> Iterator[str]:
        """Find what a block has that the node did not say, and what it lacks."""
        look = self._look
        if look is None:
            yield "reports a block without a look at the chain"
            return
        if block.peak != look.peak:
            yield f"reports the height {block.peak} of a chain of {look.peak}"
            return
        for watched in self._watched:
            if watched.id not in look.coins:
                yield f"does not look for the coin {watched.id.hex()[:8]}, which is watched"
        seen = {coin.coin: coin for coin in block.coins}
        answers = [coin for coin in look.coins.values() if coin is not None]
        for coin in answers:
            reported = seen.get(coin.coin)
            if (reported is None) != (coin.born > look.peak):
                yield f"reports a coin that the chain lacks, or not one that it has: {_id(coin)}"
            elif reported is not None and not _same(reported, coin, look.peak):
                yield f"reports the coin {_id(coin)} otherwise than the node"
            elif reported is not None and _is_hidden(reported, look.parents):
                yield f"does not ask for what the coin {_id(coin)} was spent to"
        asked = {coin.coin for coin in answers}
        for child in look.children:
            if child.coin in asked:
                continue  # its own answer counts: a node may fall back between the two
            reported = seen.get(child.coin)
            if (reported is None) != (child.born > look.peak) or (
                reported is not None and not _same(reported, child, look.peak)
            ):
                yield f"reports the coin {_id(child)} otherwise than the coins of its parent"
        known = {*asked, *(child.coin for child in look.children)}
        for reported in block.coins:
            if reported.coin not in known:
                yield f"reports the coin {_id(reported)}, which the node did not name"

    def _not_offered(self, now: float) -> Iterator[str]:
        """Find pushes that the node has not answered, though it answers.

        Each of those that it did not answer comes before the others once.
        """
        patience = PATIENCE + LOOKS * len(self._tries)
        for name, since in self._pushes.values():
            waits = now - max(since, self._troubled_until)
            if waits > patience:
                yield f"does not offer {name} to its node in {waits:.0f} s"


def _id(seen: CoinSeen) -> str:
    return seen.coin.id.hex()[:8]


def _is_hidden(reported: CoinSeen, parents: set[bytes]) -> bool:
    """True if a coin was spent in a way that nobody has asked for, or was told of."""
    is_open = reported.spent is not None and reported.solution is None
    return is_open and reported.coin.id not in parents


def _same(reported: CoinSeen, answer: CoinSeen, peak: int) -> bool:
    """True if a coin is reported as the node has it, as of this height."""
    spent = answer.spent if answer.spent is not None and answer.spent <= peak else None
    if spent is not None and answer.solution not in (None, reported.solution):
        return False
    return (reported.born, reported.spent) == (answer.born, spent)
