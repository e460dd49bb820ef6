"""Blocks that others fill at a price, and nodes that ask fees: both sides then pay, or wait.

A script has one market: what others pay, what the nodes ask, and how much both sides may pay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from msgspec import structs

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.simulation.crowd import CROWDED, CrowdedChain, CrowdSize

FILL = "fill"
"""The kind of action that lets others fill blocks."""

LENGTHS = 12
"""An action fills up to so many blocks. Beyond these, its amount says in which market."""

CHANGES = 3
"""Blocks after which a node asks another rate."""


@dataclass(frozen=True, slots=True)
class Market:
    """The price that others pay, and the rates that a node asks in turn (none: what it takes).

    `most_fee` and `most_fees` are the most mojos that a side pays for a spend, and in all. Others
    fill at most `longest` blocks in a session: what cannot pay as much waits for so long.
    """

    rate: int
    asks: tuple[int, ...] = ()
    most_fee: int = 200_000_000_000
    most_fees: int = 1_900_000_000_000
    longest: int = 1000


MARKETS = (
    # Both sides have more than the others at any time, and their nodes know the price.
    Market(10),
    # Their nodes ask too little: a spend gets in when its fee has risen.
    Market(30, (1,)),
    # Their nodes ask more and less in turn.
    Market(10, (20, 5, 10, 2)),
    # They may pay less for a spend than the others do: it waits until those are gone.
    Market(10, (2,), most_fee=250_000_000, longest=4),
    # Their money is enough for a few spends.
    Market(2, (4,), most_fee=1_000_000_000, most_fees=600_000_000, longest=4),
    # Their coins are so small that a spend takes two.
    Market(6, (1,), most_fee=500_000_000, most_fees=1_000_000_000, longest=6),
    # The maximum of all fees is soon reached.
    Market(2, (4,), most_fee=1_000_000_000, most_fees=100_000_000, longest=4),
)
"""The markets that scripts may have."""

ENOUGH = len(MARKETS) - 1
"""The first markets, in which a side has money enough to replace the pins of a hostile one."""

FREE = Market(0, most_fee=0, most_fees=0)
"""The market of a crowd alone: both sides have no maxima of fees from it."""

SHORT = 4
"""The most blocks that others fill who pay more than a side may."""

MOST_AMOUNT = LENGTHS * len(MARKETS) - 1
"""The largest amount of an action that fills blocks."""


SAME_LIMITS = 2
"""The amount of an action that names the maxima of before again."""


def other_limits(fees: Fees | None, amount: int) -> FeeLimits | None:
    """The maxima that a player names as it starts its process again; None if it pays no fees.

    They are half of what they were, for a spend alone or for both, or the same again. No market
    asks for more.
    """
    if fees is None or fees.per_spend is None or fees.per_channel is None:
        return None
    part = 1 if amount == SAME_LIMITS else 2
    return FeeLimits(fees.per_spend // part, fees.per_channel // part if amount else None)


def due_limits(fees: Fees | None, now: FeeLimits | None, asked: FeeLimits) -> FeeLimits | None:
    """The maxima that a peer with these ones has to have, once its player has asked for others.

    None if they are those of its channel.
    """
    given = {name: most for name, most in structs.asdict(asked).items() if most is not None}
    if fees is None or not given:
        return now
    before = now or FeeLimits(fees.per_spend, fees.per_channel)
    after = structs.replace(before, **given)
    return now if after == before else after


class FilledChain(CrowdedChain):
    """A chain of a market, whose blocks others fill when a script says so.

    A `crowd` fills so many more blocks when it first comes.
    """

    def __init__(
        self, chain: FarmableChain, secret: bytes, market: Market, blocks: int, crowd: int = 0
    ) -> None:
        super().__init__(chain, secret, CrowdSize(market.rate, blocks + crowd))
        self.market = market
        self._may_fill = blocks
        self._comes_for = crowd

    def come(self) -> None:
        """Let the crowd come, once."""
        blocks, self._comes_for = self._comes_for, 0
        if blocks:
            super().fill(blocks)

    def fill(self, blocks: int) -> None:
        """Let others fill so many more blocks, as far as the market allows."""
        blocks = min(blocks, self._may_fill)
        self._may_fill -= blocks
        if blocks:
            super().fill(blocks)

    def fee_rate(self) -> int:
        """The rate that a node asks: its own, or that of the market."""
        asks = self.market.asks
        if not asks:
            return super().fee_rate()
        return asks[self.peak() // CHANGES % len(asks)]


def filled_chain(chain: FarmableChain, attack: Attack) -> FilledChain | None:
    """The chain of a script in which others fill blocks; None for the others."""
    fills, terms = [action for action in attack.actions if action.kind == FILL], attack.terms
    if not fills and not terms.crowd:
        return None
    market = MARKETS[fills[0].amount // LENGTHS % len(MARKETS)] if fills else FREE
    if terms.crowd:
        market = replace(market, rate=terms.crowd)
    blocks = sum(map(filled_by, fills))
    # With maxima of their own, sides may pay less than the others do.
    has_maxima = terms.fees or terms.max_fee is not None or terms.max_fees is not None
    blocks = min(blocks, market.longest, SHORT if has_maxima else blocks)
    crowd = CROWDED if terms.crowd else 0
    return FilledChain(chain, derive(attack.seed.encode(), "crowd"), market, blocks, crowd)


def with_money(amount: int) -> int:
    """The amount of an action that fills blocks, in a market where there is money enough."""
    return amount % (LENGTHS * ENOUGH)


def filled_by(action: Action) -> int:
    """The number of blocks that an action fills.

    >>> [filled_by(Action(FILL, 0, 0, amount)) for amount in (0, 11, 36, 47)]
    [1, 12, 1, 12]
    """
    return 1 + action.amount % LENGTHS
