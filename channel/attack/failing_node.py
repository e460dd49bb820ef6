"""A node as one peer sees it: slow, away, or unreliable with what is pushed to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from msgspec.structs import replace

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.kinds import REFUSALS
from channelsim.channel.attack.other_nodes import OtherNodes
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer, Chain, FarmableChain, PushResult
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.refusals import ALREADY_INCLUDING

T = TypeVar("T")

FORGOTTEN = PushResult(Answer.KNOWN, ALREADY_INCLUDING)
"""The answer to bytes that the node has dropped."""


TOO_LATE = {"ASSERT_BEFORE_HEIGHT_ABSOLUTE_FAILED", "ASSERT_BEFORE_HEIGHT_RELATIVE_FAILED"}
"""The refusals of a bundle that comes too late for the true tip."""


class FailingNode:
    """One side's node. `next_action` counts its calls, and `time` is the virtual one in seconds.

    Calls that it answers are answered by `asked`, which is the chain itself, or its RPC.
    A `block` may come with any call. Until the height `hampers_until`, something is held back. It
    asks `least_rate` mojos per cost, or what the chain does if that is more. `failed` counts the
    calls that were not answered. The side may have `others`, which have pins in their mempools.
    """

    def __init__(
        self,
        chain: FarmableChain,
        next_action: Callable[[], Action | None],
        time: Callable[[], float],
        block: Callable[[], None],
        least_rate: int = 0,
        others: OtherNodes | None = None,
        asked: Chain | None = None,
    ) -> None:
        self.slowness = 0.0
        self.hampers_until = 0
        self.failed = 0
        self._chain = chain
        self._answers: Chain = asked or chain
        self._next_action = next_action
        self._time = time
        self._block = block
        self._least_rate = least_rate
        self._others = others
        self._away_until, self._away_until_block = 0.0, 0
        self._blind_until, self._blind_until_block = 0.0, 0
        self._shown_tip: int | None = None
        self._behind_until, self._behind_until_block = 0.0, 0
        self._next_push: Action | None = None
        self._held: list[tuple[int, Bundle]] = []
        self._taken_from: dict[Bundle, int] = {}
        self._refused: dict[Coin, tuple[int, PushResult]] = {}
        self._unanswered: dict[Coin, tuple[int, Action]] = {}
        self._noted: list[tuple[Bundle, PushResult]] | None = None

    @property
    def chain(self) -> FarmableChain:
        """The chain as it is, without any failure."""
        return self._chain

    @property
    def height(self) -> int:
        """The height of the tip, whether the node answers or not."""
        return self._chain.peak()

    @property
    def rate(self) -> int:
        """The fee rate that the node asks, whether it answers or not."""
        return max(self._least_rate, self._chain.fee_rate())

    @property
    def is_behind(self) -> bool:
        """True while it shows the chain as it was some blocks ago."""
        return self._shown_tip is not None and (
            self._time() < self._behind_until or self._chain.peak() < self._behind_until_block
        )

    @contextmanager
    def noting(self) -> Iterator[list[tuple[Bundle, PushResult]]]:
        """Note what is pushed in this block, and the answers."""
        noted: list[tuple[Bundle, PushResult]] = []
        self._noted = noted
        try:
            yield noted
        finally:
            self._noted = None

    def peak(self) -> int:
        """The height of the tip. Raises `NodeError`, as all calls do."""
        self._called()
        self._asked(self._answers.peak)
        return self._tip()

    def agg_sig_data(self) -> bytes:
        """The suffix of messages to sign on this network."""
        return self._answers.agg_sig_data()

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id; the node may not tell the solution of its spend."""
        self._called()
        return next(self._as_shown([self._asked(lambda: self._answers.coin(coin_id))]), None)

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        self._called()
        return list(self._as_shown(self._asked(lambda: self._answers.coins_at(puzzle_hash))))

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that the spend of this one created."""
        self._called()
        return list(self._as_shown(self._asked(lambda: self._answers.children(coin_id))))

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle, which the node may hold back, refuse, drop, or take without an answer."""
        result = self._push(bundle)
        if self._noted is not None:
            self._noted.append((bundle, result))
        return result

    def _push(self, bundle: Bundle) -> PushResult:
        self._called()
        if self._chain.peak() < self._taken_from.get(bundle, 0):
            return FORGOTTEN
        for spend in bundle.spends:
            until, silence = self._unanswered.get(spend.coin, (0, None))
            if silence is not None and self._chain.peak() < until:
                raise self._unheard(silence, bundle)
            until, refusal = self._refused.get(spend.coin, (0, FORGOTTEN))
            if self._chain.peak() < until:
                return refusal
            if self._is_spent_later(spend.coin):
                return PushResult(Answer.ACCEPTED)
        action, self._next_push = self._next_push, None
        match action:
            case None:
                return self._offer(bundle)
            case Action("push-pinned", blocks=blocks) if self._others is not None:
                self._others.pin(bundle, action, self._until(blocks))
                return self._offer(bundle)
            case Action("push-held", amount=blocks):
                self._held.append((self._until(blocks), bundle))
                return PushResult(Answer.ACCEPTED)
            case Action("push-refused", amount=which, blocks=blocks):
                refusal = PushResult(Answer.REFUSED, REFUSALS[which])
                until = self._until(blocks) - 1
                # The last spend is that of a fee coin, if there is one.
                for spend in bundle.spends[-1:]:
                    self._refused[spend.coin] = until, refusal
                return refusal
            case Action("push-forgotten", amount=at_once, blocks=blocks):
                self._taken_from[bundle] = self._until(blocks)
                if self._others is not None:
                    self._others.take(bundle)
                return FORGOTTEN if at_once else PushResult(Answer.ACCEPTED)
            case _:
                if action.blocks:
                    until = self._until(action.blocks) - 1
                    self._unanswered[bundle.spends[0].coin] = until, action
                raise self._unheard(action, bundle)

    def _offer(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the chain and the other nodes, of which one may have a pin of it.

        A watcher has this node alone.
        """
        others = self._others if self._noted is None else None
        is_pinned = others is not None and not others.take(bundle)
        if is_pinned and others is not None and others.is_alone:
            return PushResult(Answer.PENDING_CONFLICT)
        result = self._asked(lambda: self._answers.push(bundle))
        if self.is_behind and result.error in TOO_LATE:
            return PushResult(Answer.ACCEPTED)  # for all it knows, there is time left
        is_open = result.answer in (Answer.ACCEPTED, Answer.PENDING_CONFLICT)
        return PushResult(Answer.PENDING_CONFLICT) if is_pinned and is_open else result

    def _unheard(self, action: Action, bundle: Bundle) -> NodeError:
        """The error of a push that gets no answer; the node may take it."""
        if action.amount:
            self._chain.push(bundle)
        self.failed += 1
        return NodeError("the node does not answer")

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles that spend this coin, in the mempool of any node."""
        self._called()
        pending = self._asked(lambda: self._answers.pending(coin_id))
        if self._others is not None and self._noted is None:
            pending = [*pending, *self._others.pending(coin_id)]
        return pending

    def fee_rate(self) -> int:
        """The fee rate that the node asks."""
        self._called()
        return max(self._least_rate, self._asked(self._answers.fee_rate))

    def _asked(self, answer: Callable[[], T]) -> T:
        """The answer to a call, unless the nodes that are asked fail by themselves."""
        try:
            return answer()
        except NodeError:
            self.failed += 1
            raise

    def take_held(self, *, everything: bool = False) -> None:
        """Offer the bundles that were held back long enough, before the next block."""
        due = [one for one in self._held if everything or one[0] <= self._chain.peak() + 1]
        self._held = [one for one in self._held if one not in due]
        for _, bundle in due:
            self._chain.push(bundle)

    def heal(self) -> None:
        """Answer everything again, at once."""
        self._away_until = self._blind_until = self.slowness = 0.0
        self._away_until_block = self._blind_until_block = self.hampers_until = 0
        self._shown_tip = None
        self._next_push = None
        self._taken_from.clear()
        self._refused.clear()
        self._unanswered.clear()
        if self._others is not None:
            self._others.clear()
        self.take_held(everything=True)

    def take_slowness(self) -> float:
        """The seconds that the answer to the last call takes, once."""
        slowness, self.slowness = self.slowness, 0.0
        return slowness

    def _called(self) -> None:
        action = self._next_action()
        match action:
            case None:
                pass
            case Action("node-away", pause=pause, blocks=blocks):
                self._away_until = self._time() + pause
                self._away_until_block = self._chain.peak() + blocks
            case Action("solutions-hidden", pause=pause, blocks=blocks):
                self._blind_until = self._time() + pause
                self._blind_until_block = self._chain.peak() + blocks
            case Action("node-behind", amount=amount, pause=pause, blocks=blocks):
                self._shown_tip = self._chain.peak() - 1 - amount
                self._behind_until = self._time() + pause
                self._behind_until_block = self._chain.peak() + max(1, blocks)
            case Action("node-slow", pause=pause):
                self.slowness = float(pause)
            case Action("block-meanwhile"):
                self._block()
            case _:
                self._next_push = action
        if (self._away_until and self._time() < self._away_until) or (
            self._away_until_block and self._chain.peak() < self._away_until_block
        ):
            self.failed += 1
            raise NodeError("the node is away")

    def _tip(self) -> int:
        """The height of the tip that it shows."""
        peak = self._chain.peak()
        return min(self._shown_tip or peak, peak) if self.is_behind else peak

    def _is_spent_later(self, coin: Coin) -> bool:
        """True if it takes a spend of a coin for good, because it is behind another one of it."""
        seen = self._chain.coin(coin.id) if self.is_behind else None
        return seen is not None and seen.spent is not None and seen.spent > self._tip()

    def _as_shown(self, coins: Iterable[CoinSeen | None]) -> Iterator[CoinSeen]:
        """Those coins that it shows now; while it is blind, without the solutions of their
        spends."""
        tip = self._tip()
        is_blind = self._time() < self._blind_until or self._chain.peak() < self._blind_until_block
        for seen in coins:
            if seen is None or seen.born > tip:
                continue
            if seen.spent is not None and seen.spent > tip:
                yield replace(seen, spent=None, solution=None)
            else:
                yield replace(seen, solution=None) if is_blind else seen

    def _until(self, blocks: int) -> int:
        """The height so many blocks after the next one, until which something is held back."""
        height = self._chain.peak() + 1 + blocks
        self.hampers_until = max(self.hampers_until, height)
        return height
