"""A crowd: other users of a chain, who fill its mempool and every block at a rate of fees.

Each of their bundles costs half a block, and spends one coin to a smaller one at the crowd's
address. The chain alone says which of them were mined or taken back by a reorganisation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.forwarding import ForwardingChain
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.chain.mempool_items import Limits
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.padding import SLACK, padded_spend
from channelsim.channel.errors import InvariantError
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.referee import CREATE_COIN

MOST_GIVEN = 1_750_000_000_000 - 1_000_000
"""Mojos that the crowd takes out of a block reward."""

CROWDED = 60
"""Blocks that the crowd of a dispute fills, about 20 minutes: more than any deadline leaves."""

FULL_BLOCKS = 2
"""Blocks of bundles that a crowd keeps pending that fills blocks, but not the mempool."""

BUNDLES = 2
"""Bundles of the crowd in a block."""

SPARE = 24
"""Coins beyond those of pending bundles, which fill the place of evicted ones meanwhile."""

LATE = 2
"""Blocks by which a bundle may be mined later than others of its rate."""


@dataclass(frozen=True, slots=True)
class CrowdSize:
    """What a crowd fills, and for how long.

    It keeps so many `pending` blocks of bundles in the mempool (None: as many as it takes), each at
    `rate` mojos per cost, and has money for about `stays` blocks. `limits` are the node's.
    """

    rate: int
    stays: int
    pending: int | None = FULL_BLOCKS
    limits: Limits = field(default_factory=Limits)

    @property
    def cost(self) -> int:
        """The cost of a bundle: two leave no room in a block for the cheapest spend."""
        return self.limits.room // BUNDLES

    @property
    def fee(self) -> int:
        """The fee of a bundle."""
        return self.rate * (self.cost - SLACK)

    @property
    def most_pending(self) -> int:
        """The most of its bundles that are pending at a time."""
        if self.pending is not None:
            return BUNDLES * self.pending
        return self.limits.pool_cost // self.cost


class Crowd:
    """A crowd on a chain. Call `arrive` once, and `fill` before and after each block.

    The same secret and blocks give the same bundles.
    """

    def __init__(self, chain: FarmableChain, secret: bytes, size: CrowdSize) -> None:
        self._chain = chain
        self._size = size
        self._key = wallet_key(secret, "crowd")
        self._address = address_of(self._key)
        self._offered: dict[Coin, int] = {}
        """The height at which the newest bundle of a coin was accepted."""

    def arrive(self) -> None:
        """Get coins enough for the whole stay, in a few blocks."""
        size = self._size
        bundles = size.most_pending + SPARE + BUNDLES * size.stays
        each = min(-(-bundles // (size.most_pending + SPARE)), MOST_GIVEN // size.fee)
        amounts = [each * size.fee + 1 + number for number in range(-(-bundles // each))]
        at_once = MOST_GIVEN // amounts[-1]
        for start in range(0, len(amounts), at_once):
            coin = self._chain.give(self._address, MOST_GIVEN)
            listed = to_list(
                condition(CREATE_COIN, self._address, amount)
                for amount in amounts[start : start + at_once]
            )
            bundle = signed_spend(self._key, coin, listed, self._chain.agg_sig_data())
            result = self._chain.push(bundle)
            if result.answer is not Answer.ACCEPTED:
                raise InvariantError(f"the crowd's coins cannot be made: {result.text}")
            self._chain.farm()

    def fill(self) -> None:
        """Offer bundles until enough are pending, or the mempool takes no more."""
        size, peak = self._size, self._chain.peak()
        seen = sorted(self._chain.coins_at(self._address), key=_age)
        coins = [one.coin for one in seen if one.coin.amount > size.fee]
        # A bundle that is not mined for so long was evicted: its coin is offered in other bytes.
        long_ago = peak - size.limits.pool_cost // size.limits.block_cost - LATE
        self._offered = {
            coin: height
            for coin in coins
            if (height := self._offered.get(coin, long_ago)) > long_ago
        }
        free = [coin for coin in coins if coin not in self._offered]
        wanted = None if size.pending is None else max(0, size.most_pending - len(self._offered))
        for coin in free[:wanted]:
            bundle = self._bundle(coin, int_to_atom(peak))
            if self._chain.push(bundle).answer is Answer.REFUSED:
                return  # the mempool is full
            self._offered[coin] = peak

    def _bundle(self, coin: Coin, nonce: bytes) -> Bundle:
        data, size = self._chain.agg_sig_data(), self._size
        return padded_spend(self._key, coin, size.fee, size.cost, data, nonce)


class CrowdedChain(ForwardingChain):
    """A chain whose blocks and mempool a crowd fills while it is there.

    The crowd stays when `begin` is first called, or for some blocks whenever `fill` is called.
    `left` is how many more blocks it fills.
    """

    def __init__(self, chain: FarmableChain, secret: bytes, size: CrowdSize) -> None:
        super().__init__(chain)
        self._crowd = Crowd(chain, secret, size)
        self._crowd.arrive()
        self._stays = size.stays
        self.left = 0

    def begin(self) -> None:
        """Let the crowd come before the next block for its whole stay, unless it came before."""
        self.left, self._stays = self.left + self._stays, 0

    def fill(self, blocks: int) -> None:
        """Let the crowd fill so many more blocks, and the mempool at once."""
        self.left += blocks
        self._crowd.fill()

    def farm(self, blocks: int = 1) -> None:
        """Make blocks, each of which the crowd fills, as it does the mempool after it."""
        for _ in range(blocks):
            if self.left:
                self._crowd.fill()
            self._chain.farm()
            if self.left:
                self.left -= 1
                self._crowd.fill()


def _age(seen: CoinSeen) -> tuple[int, bytes]:
    return seen.born, seen.coin.id
