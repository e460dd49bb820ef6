"""Check that the honest side splits its wallet coin for fees: in time, paid for, and not for ever.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.peer.chain_news import ChannelSettled, GamePaid, GameVoid, Undone
from channelsim.channel.peer.interface import (
    GameSettled,
    GameStarted,
    Push,
    ShutdownStarted,
    Watch,
)
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.simulation.promises.fee_offers import Offered, offered
from channelsim.channel.simulation.promises.fee_payments import TOLERANCE
from channelsim.channel.simulation.promises.fee_risk import FeeRisk
from channelsim.channel.simulation.run import JournalEntry
from channelsim.games.amounts import counted

LONG_WHOLE = 5
"""Blocks in which a peer that pays fees has split its wallet coin, once it sees the channel."""

SPARE = 2
"""Fee coins beside one for each live game."""

MOST_SPLITS = 3
"""Blocks in a row with each of which no peer has to split another coin."""


class FeeSplits:
    """The splits of one side's wallet coin, `first`, as of one event; `end` is its last state."""

    def __init__(self, first: Coin, risk: FeeRisk, end: PeerState) -> None:
        self._first = first
        self._risk = risk
        self._channel = end.endpoint.channel.coin if end.endpoint is not None else None
        self._leaves = end.dispute is not None
        self._is_settled = self._shuts = self._is_watched = False
        self._whole, self._looked_at, self._splits, self._short = 0, 0, 0, 0
        self._games: set[int] = set()
        self._split: set[Coin] = set()
        self._offered: dict[Coin, tuple[int, int]] = {}

    def note(self, turn: JournalEntry) -> None:
        """Take what is looked for in a turn, and what the player hears."""
        coins = {effect.coin for effect in turn.effects if isinstance(effect, Watch)}
        self._is_watched = self._is_watched or self._first in coins
        for news in turn.news:
            match news:
                case ChannelSettled():
                    self._is_settled = True
                case Undone(ChannelSettled()):
                    self._is_settled = False
                case GameStarted(game):
                    self._games.add(game.id)
                case GameSettled(game_id) | GameVoid(game_id) | GamePaid(game_id):
                    self._games.discard(game_id)
                case ShutdownStarted():
                    # No game is live then: what the shutdown pays for needs no other coin.
                    self._shuts = True
                case _:
                    pass

    def follow(self, turn: JournalEntry, pushes: Sequence[Push]) -> Iterator[str]:
        """Find a wallet coin that is not looked for, or stays whole: it pays for one spend.

        The turn was noted, and fees can be paid.
        """
        if pushes and not self._is_watched:
            yield "CH-FEE-3: it pushes a spend, and does not look for its fee coin"
            self._is_watched = True
        if not isinstance(turn.event, Block):
            return
        used = {spend.coin for push in pushes for spend in push.bundle.spends}
        unspent = [*self._risk.fee_wallet.unspent.values()]
        address = self._first.puzzle_hash
        is_split = any(not offered(push.bundle, address).spends for push in pushes)
        is_whole = self._is_used() and len(unspent) == 1
        is_new = turn.height != self._looked_at  # a restart looks again
        self._looked_at = turn.height
        self._whole = self._whole + is_new if is_whole and unspent[0] not in used else 0
        if is_new:
            self._splits = self._splits + 1 if is_split and not used & self._split else 0
        # A reorganisation may take a split back, and the one after it.
        self._split |= used if is_split else set()
        if self._splits == MOST_SPLITS:
            yield f"CH-FEE-2: it splits a fee coin with each of {counted(self._splits, 'block')}"
        if is_new and self._whole == LONG_WHOLE:
            blocks = counted(self._whole, "block")
            yield f"CH-FEE-2: it has one fee coin for {blocks}, and does not split it"
        is_short = self._is_used() and not is_split and self._is_short(len(unspent))
        self._short = self._short + is_new if is_short else 0
        if is_new and self._short == LONG_WHOLE:
            coins, games = counted(len(unspent), "fee coin"), counted(len(self._games), "live game")
            yield f"CH-FEE-2: it has {coins} for {games}, and makes no more of them"

    def _is_short(self, coins: int) -> bool:
        """True if there are fewer fee coins than live games and two, and one that is large enough
        for all of these is free."""
        needs = len(self._games) + SPARE
        most = min(self._risk.most(Push("", Bundle((), b""), self._risk.total, 0)))
        largest = max((coin.amount for coin in self._risk.free()), default=0)
        return coins < needs and most >= LEAST_RAISE and largest >= (needs + 2) * most

    def raised(self, push: Push, offer: Offered, peak: int, rate: int, confirmations: int) -> str:
        """A text about a split whose fee rises with its first blocks, though its node asks for no
        more; empty for the others. Its fee is kept."""
        coin, fee = offer.payments[0].coin, sum(payment.fee for payment in offer.payments)
        began, was = self._offered.get(coin, (peak, fee))
        self._offered[coin] = began, fee
        asked = rate * cost_of(push.bundle) / TOLERANCE + LEAST_RAISE
        if peak - began <= confirmations and fee > max(was, asked):
            raised = f"from {was:,} to {counted(fee, 'mojo')}"
            return f"CH-FEE-3: it raises the fee of its new {push.name} {raised}"
        return ""

    def _is_used(self) -> bool:
        """True if fees may be due: the channel is open, or this side has left it."""
        channel = self._risk.seen.get(self._channel.id) if self._channel is not None else None
        if channel is None:
            return False
        return not self._shuts if channel.spent is None else self._leaves and not self._is_settled


def cheap_split(push: Push, offer: Offered, risk: FeeRisk, rate: int) -> Iterator[str]:
    """Find a split that pays less than its node asks, within a tenth of all fees.

    `rate` is in mojos per cost. The last coin of a split stays the largest.
    """
    _, all_most = risk.most(push)
    asked = rate * cost_of(push.bundle)
    fee = sum(payment.fee for payment in offer.payments)
    made = [amount for payment in offer.payments for _, amount in payment.made]
    most = min(all_most // 10, all_most - risk.beside(offer.payments[0].coin))
    if len(made) > 1:
        most = min(most, fee + made[-1] - made[-2])
    if fee + LEAST_RAISE < TOLERANCE * min(asked, most):
        pays = f"pays {counted(fee, 'mojo')}, and its node asks {asked}"
        yield f"CH-FEE-3: its {push.name} {pays}"
