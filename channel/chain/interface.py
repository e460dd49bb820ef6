"""The chain, as the driver of a peer uses it.

The interface covers only what a driver needs of a full node. `channel.chain.simulator` is the
embedded node; other backends must pass the same tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.observations import Block, CoinSeen, PendingBundle


class Answer(Enum):
    """The node's response to a pushed bundle."""

    ACCEPTED = "accepted"
    PENDING_CONFLICT = "conflicts with a pending bundle"
    KNOWN = "known to the node already"
    TOO_EARLY = "kept until its height"
    ALREADY_SPENT = "spends a coin that is already spent"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class PushResult:
    """The node's response, with its own error code for a refusal."""

    answer: Answer
    error: str = ""

    @property
    def benign(self) -> bool:
        """True if the bundle may be pending or mined already: then this is no failure."""
        return self.answer is not Answer.REFUSED

    @property
    def text(self) -> str:
        """The response for people, with the node's own word for a refusal.

        >>> PushResult(Answer.REFUSED, "INVALID_FEE_TOO_CLOSE_TO_ZERO").text
        'refused: INVALID_FEE_TOO_CLOSE_TO_ZERO'
        """
        if self.benign or not self.error:
            return self.answer.value
        return f"{self.answer.value}: {self.error}"


class Coins(Protocol):
    """The coins of a chain, as far as a peer watches them: see `Chain`."""

    def peak(self) -> int:
        """The height of the tip."""
        ...

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        ...

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        ...


class Chain(Protocol):
    """A full node, as a peer's driver uses it. Heights count blocks; money is in mojos.

    `coin` gives the solution of a spent coin too, serialized without back-references.
    """

    def peak(self) -> int:
        """The height of the tip."""
        ...

    def agg_sig_data(self) -> bytes:
        """The 32 bytes that this network appends to AGG_SIG_ME messages."""
        ...

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        ...

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins that this puzzle hash locks."""
        ...

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        ...

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        ...

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        ...

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        ...


def blocks_for(chain: Chain, watched: list[Coin]) -> Iterator[Block]:
    """Report the tip to a peer, again while it starts to watch coins that exist already.

    `watched` is the driver's own list, which grows as the peer's effects are carried out.
    """
    while True:
        known = len(watched)
        yield observe(chain, watched)
        if not any(chain.coin(coin.id) for coin in watched[known:]):
            return


def observe(chain: Coins, watched: Sequence[Coin]) -> Block:
    """Look at the tip and at watched coins, on a chain that grows in the meantime.

    The block has each coin as of the tip's height: what newer blocks changed is left for the next
    look. Records of coins are cumulative, so that no change is missed however many blocks lie
    between two looks.
    """
    peak = chain.peak()
    seen = (chain.coin(coin.id) for coin in watched)
    coins = [_as_of(peak, coin) for coin in seen if coin and coin.born <= peak]
    return Block(peak, with_children(chain, peak, coins))


def with_children(chain: Coins, peak: int, coins: Iterable[CoinSeen]) -> tuple[CoinSeen, ...]:
    """Add the children of each coin whose solution the node does not give, as of this height.

    That is one more call for such a coin, however many coins it may have been spent to.
    """
    seen = {coin.coin: coin for coin in coins}
    for parent in tuple(seen.values()):
        if parent.spent is None or parent.solution is not None:
            continue
        for child in chain.children(parent.coin.id):
            # Any other height is that of a reorganisation between the two calls.
            if child.born == parent.spent:
                seen.setdefault(child.coin, _as_of(peak, child))
    return tuple(seen.values())


def _as_of(peak: int, seen: CoinSeen) -> CoinSeen:
    newer = seen.spent is not None and seen.spent > peak
    return CoinSeen(seen.coin, seen.born, None) if newer else seen


def pending_with(chain: Chain, bundle: Bundle, result: PushResult) -> tuple[PendingBundle, ...]:
    """The pending bundles that spend coins of an offered one, if the answer leaves that open.

    Each is there once: the highest fee first, and equal ones in the order of their coins.
    """
    if result.answer not in (Answer.PENDING_CONFLICT, Answer.KNOWN):
        return ()
    coin_ids = dict.fromkeys(spend.coin.id for spend in bundle.spends)
    pending = {other.bundle: other for coin_id in coin_ids for other in chain.pending(coin_id)}
    return tuple(sorted(pending.values(), key=_order))


def _order(pending: PendingBundle) -> tuple[int, list[tuple[bytes, bytes]]]:
    spends = [(spend.coin.id, spend.solution) for spend in pending.bundle.spends]
    return -pending.fee, spends


class FarmableChain(Chain, Protocol):
    """An embedded node, whose blocks the caller makes."""

    def farm(self, blocks: int = 1) -> None:
        """Make blocks with the bundles of the mempool."""
        ...

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace the last `back` blocks by `new` others, which are more.

        With `keep`, this `bundle` is offered first, and then their bundles, as far as it excludes
        none of them; otherwise they are lost.
        """
        ...

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        """A coin of at least this amount at this address, out of a block reward.

        Raises `UsageError` when block rewards are smaller than that.
        """
        ...
