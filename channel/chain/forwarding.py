"""A chain that passes all calls on to another, for those that change a few of them."""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import FarmableChain, PushResult
from channelsim.channel.chain.observations import CoinSeen, PendingBundle


class ForwardingChain:
    """A `FarmableChain` that does what another one does."""

    def __init__(self, chain: FarmableChain) -> None:
        self._chain = chain

    def peak(self) -> int:
        """The height of the tip."""
        return self._chain.peak()

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network."""
        return self._chain.agg_sig_data()

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        return self._chain.coin(coin_id)

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        return self._chain.coins_at(puzzle_hash)

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created."""
        return self._chain.children(coin_id)

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        return self._chain.push(bundle)

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        return self._chain.pending(coin_id)

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        return self._chain.fee_rate()

    def farm(self, blocks: int = 1) -> None:
        """Make blocks with the bundles of the mempool."""
        self._chain.farm(blocks)

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace the last blocks by others."""
        self._chain.reorganise(back, new, keep=keep, bundle=bundle)

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        """A coin of at least this amount at this address."""
        return self._chain.give(puzzle_hash, amount)
