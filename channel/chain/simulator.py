"""The embedded full node: real validation of puzzles, signatures and time locks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Annotated, TypeAlias, assert_never

import msgspec
from chia_rs import ConsensusConstants
from msgspec import Meta

from channelsim.channel.chain.coins import Bundle, Coin, Hash, Height
from channelsim.channel.chain.constants import (
    BLOCK_COST,
    BLOCK_REWARD,
    LEAST_BLOCK_COST,
    MOST_POOL_COST,
    POOL_BLOCKS,
    constants_of,
)
from channelsim.channel.chain.fee_rates import pool_rate
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.ledger import Ledger, Record
from channelsim.channel.chain.mempool import Mempool, Outcome, Status
from channelsim.channel.chain.mempool_items import Limits
from channelsim.channel.chain.node_calls import NO_MORE, Answered, NodeCalls
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.refusals import ANSWERS
from channelsim.channel.chain.rpc_server import LOCAL, serving
from channelsim.channel.chain.validation import InvalidBundle, Validator, name_of_bundle
from channelsim.channel.errors import UsageError
from channelsim.games.amounts import counted

Blocks = Annotated[int, Meta(ge=1, le=100_000)]


class Pushed(msgspec.Struct, frozen=True, tag="push", forbid_unknown_fields=True):
    """A bundle was accepted into the mempool."""

    bundle: Bundle


class Farmed(msgspec.Struct, frozen=True, tag="farm", forbid_unknown_fields=True):
    """Blocks were made with the bundles of the mempool, up to this height."""

    blocks: Blocks
    peak: Height


class Reorganised(
    msgspec.Struct,
    frozen=True,
    tag="reorganise",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The last `back` blocks were replaced by `new` others, as `SimulatedChain.reorganise` does."""

    back: Blocks
    new: Blocks
    keep: bool
    bundle: Bundle | None = None


class Given(msgspec.Struct, frozen=True, tag="give", forbid_unknown_fields=True):
    """A block reward was paid to this address."""

    puzzle_hash: Hash


class Reverted(msgspec.Struct, frozen=True, tag="revert", forbid_unknown_fields=True):
    """All changes but the first `kept` were taken back, and so many headers are never made again.

    So a block after it has another header than each block before it.
    """

    kept: Annotated[int, Meta(ge=0)]
    skipped: Annotated[int, Meta(ge=0, le=1 << 32)]


Change: TypeAlias = Pushed | Farmed | Reorganised | Given | Reverted
"""A change of the chain or the mempool; the same ones make the same chain."""


class NodeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of an embedded node: limits of cost, and which blocks carry transactions.

    With `mixed`, about one block of three carries them. `agg_sig_data` is what signatures of the
    network are for, if it is not the genesis challenge.
    """

    mixed: bool = False
    block_cost: Annotated[int, Meta(ge=LEAST_BLOCK_COST, le=BLOCK_COST)] = BLOCK_COST
    pool_cost: Annotated[int, Meta(ge=LEAST_BLOCK_COST, le=MOST_POOL_COST)] = (
        POOL_BLOCKS * BLOCK_COST
    )
    agg_sig_data: Hash | None = None


PUBLIC_LIKE = NodeSettings()
"""The limits of public networks, and transactions in every block."""


class SimulatedChain:
    """A chain and its mempool in memory, behind the interface of `channelsim.channel.chain`.

    The same seed gives the same blocks, coins and ids. `record` is called with every change, once
    it is done, and `refused` with every bundle that is refused and the error. `lock` is held during
    each; hold it to look several times at the same state.

    >>> SimulatedChain(1).peak()
    1
    """

    def __init__(self, seed: int, settings: NodeSettings = PUBLIC_LIKE) -> None:
        self.lock = RLock()
        self._seed, self._settings = seed, settings
        self._changes: list[Change] = []
        self.ledger = Ledger(seed, mixed=settings.mixed)
        limits = Limits(settings.block_cost, settings.pool_cost)
        self.mempool = Mempool(self.ledger.find, self.ledger.tip, limits)
        self.record: Callable[[Change], None] | None = None
        self.refused: Callable[[Bundle, str], None] | None = None
        genesis = self.ledger.genesis_challenge
        self._agg_sig_data = settings.agg_sig_data or genesis
        self._validator = Validator(
            constants_of(self._agg_sig_data, settings.block_cost, settings.pool_cost, genesis)
        )

    @property
    def constants(self) -> ConsensusConstants:
        """The constants of the network."""
        return self._validator.constants

    @property
    def changes(self) -> int:
        """The number of changes that led to this state."""
        return len(self._changes)

    def peak(self) -> int:
        """The height of the tip."""
        return self.ledger.height

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network."""
        return self._agg_sig_data

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        record = self.ledger.record(coin_id)
        return None if record is None else _seen(record, solution=True)

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        return [_seen(one) for one in self.ledger.at(puzzle_hash) if one.spent is None]

    def had(self, puzzle_hash: bytes) -> bool:
        """True if a coin was ever at this address, spent or not."""
        return bool(self.ledger.at(puzzle_hash))

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        return answer_to(self.offer(bundle))

    def offer(self, bundle: Bundle, *, again: bool = False) -> Outcome:
        """Offer a bundle to the mempool, and say what became of it.

        With `again`, as a node that did not drop it before.
        """
        with self.lock:
            if again:
                self.mempool.forget(name_of_bundle(bundle))
            new = self.mempool.known(name_of_bundle(bundle)) is None
            outcome = self._offer(bundle)
            if outcome.status is Status.FAILED:
                if self.refused is not None:
                    self.refused(bundle, outcome.error)
            elif new:
                self._note(Pushed(bundle))
            return outcome

    def _note(self, change: Change) -> None:
        self._changes.append(change)
        if self.record is not None:
            self.record(change)

    def _offer(self, bundle: Bundle) -> Outcome:
        name = name_of_bundle(bundle)
        known = self.mempool.known(name)
        if known is not None:
            return known
        try:
            return self.mempool.offer(self._validator.validate(name, bundle))
        except InvalidBundle as invalid:
            if invalid.lasting:
                self.mempool.remember(name)
            return Outcome(Status.FAILED, invalid.error)

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        children = map(_seen, self.ledger.children(coin_id))
        return sorted(children, key=lambda seen: seen.coin.id)

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        with self.lock:
            items = self.mempool.spending(coin_id)
        return [PendingBundle(item.valid.bundle, item.fee, item.cost) for item in items]

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        with self.lock:
            return pool_rate(self.mempool)

    def pending_count(self) -> int:
        """The number of bundles in the mempool."""
        return len(self.mempool)

    @contextmanager
    def served(
        self, address: tuple[str, int] = LOCAL, more: Mapping[str, Answered] = NO_MORE
    ) -> Iterator[str]:
        """Serve the node's RPC, and more calls, during the block; yields its URL.

        Raises `UsageError`.
        """
        with serving(NodeCalls(self, more), address) as url:
            yield url

    def farm(self, blocks: int = 1) -> None:
        """Make blocks with the bundles of the mempool."""
        with self.lock:
            self._farm(blocks)
            self._note(Farmed(blocks, self.ledger.height))

    def _farm(self, blocks: int) -> None:
        left = blocks
        while left:
            if not (len(self.mempool) or self.mempool.waiting):
                self.ledger.add_empty(left)
                self.mempool.add_block(self.ledger.tip, ())
                return
            left -= 1
            if self.ledger.next_carries():
                self._add_block()
            else:
                self.ledger.add_empty(1)

    def _add_block(self, reward: bytes | None = None) -> None:
        block = self.ledger.add(self.mempool.next_block(), reward=reward)
        self.mempool.add_block(self.ledger.tip, block.spent)

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace the last `back` blocks by `new` others (more than `back`, to win).

        The new blocks spend nothing, and the bundles of the old ones are lost, as on a real node.
        With `keep`, this `bundle` is offered, and they return to the mempool before the new blocks
        are made, as if all who pushed them did so again; what the bundle excludes is lost.
        """
        with self.lock:
            if keep:
                old = self.ledger.revert(back)
                self.mempool.reorganise(self.ledger.tip)
                if bundle is not None:
                    self._offer(bundle)
                for block in old:
                    for item in block.items:
                        self.mempool.offer(item.valid)
                self._farm(new)
            else:
                self.ledger.replace(back, new)
                self.mempool.reorganise(self.ledger.tip)
            self._note(Reorganised(back, new, keep, bundle))

    def revert(self, kept: int) -> None:
        """Take all changes back but the first `kept`: they are done again on a new chain.

        The mempool is as it was, too. Takes about as long as the changes did.
        """
        with self.lock:
            headers_made = self.ledger.headers_made
            self._keep(kept)
            skipped = headers_made - self.ledger.headers_made
            self.ledger.skip(skipped)
            self._note(Reverted(kept, skipped))

    def _keep(self, kept: int) -> None:
        if kept == len(self._changes):
            return
        past = SimulatedChain(self._seed, self._settings)
        for change in self._changes[:kept]:
            past.repeat(change)
        self.ledger, self.mempool = past.ledger, past.mempool
        self._changes = past._changes

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        """A block reward of at least `amount` mojos at this address."""
        if amount > BLOCK_REWARD:
            raise UsageError(
                f"{counted(amount, 'mojo')}: a wallet coin of the embedded node holds less"
                f" ({BLOCK_REWARD}): use a smaller unit, stack or balance"
            )
        with self.lock:
            self._add_block(puzzle_hash)
            self._note(Given(puzzle_hash))
        # Rewards of a block are paid out with it; later blocks add none at this address.
        coins = [seen.coin for seen in self.coins_at(puzzle_hash)]
        return max(coins, key=lambda coin: (coin.amount, coin.id))

    # --- changes ---

    def repeat(self, change: Change) -> None:
        """Do a recorded change again. Raises `UsageError` if that is not possible here."""
        match change:
            case Pushed(bundle):
                outcome = self.offer(bundle, again=True)
                if outcome.status is Status.FAILED:
                    raise UsageError(f"a bundle is refused ({outcome.error})")
            case Farmed(blocks, peak):
                if blocks > peak - self.peak():
                    raise UsageError(f"no block after {self.peak()} has height {peak}")
                self.farm(blocks)
                if self.peak() != peak:
                    raise UsageError(f"block {self.peak()} where {peak} is expected")
            case Reorganised(back, new, keep, bundle):
                if not back < min(new, self.peak()):
                    raise UsageError(
                        f"{counted(back, 'block')} before {self.peak()} cannot be replaced"
                    )
                self.reorganise(back, new, keep=keep, bundle=bundle)
            case Given(puzzle_hash):
                self.give(puzzle_hash, 0)
            case Reverted(kept, skipped):
                if kept > len(self._changes):
                    raise UsageError(f"{counted(kept, 'change')} cannot be kept")
                self._keep(kept)
                self.ledger.skip(skipped)
                self._note(change)
            case _:
                assert_never(change)


def answer_to(outcome: Outcome) -> PushResult:
    """The answer of a node to a push with this outcome."""
    if outcome.status is Status.SUCCESS:
        return PushResult(Answer.ACCEPTED)
    return PushResult(ANSWERS.get(outcome.error, Answer.REFUSED), outcome.error)


def _seen(record: Record, *, solution: bool = False) -> CoinSeen:
    shown = record.spend.solution if solution and record.spend is not None else None
    return CoinSeen(record.coin, record.born, record.spent, shown)
