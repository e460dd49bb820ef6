"""The news of the fees of its spends that a player has to hear, each of them once.

Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from channelsim.channel.attack.situations import UNPIN
from channelsim.channel.peer.fees.answers import MOST_ANSWERS
from channelsim.channel.peer.fees.fee_wallet import SPLIT
from channelsim.channel.peer.interface import (
    Dropped,
    Effect,
    Event,
    FeeTooLow,
    Push,
    SpendDropped,
    Tell,
)
from channelsim.channel.peer.peer_state import PeerState


@dataclass(slots=True)
class FeeNews:
    """Follows the news of one side through all lives: `told` are the coins of dropped spends."""

    told: set[bytes] = field(default_factory=set)

    def follow(
        self, event: Event | None, before: PeerState, after: PeerState, effects: Sequence[Effect]
    ) -> Iterator[str]:
        """Find what a player does not hear, or hears again."""
        if isinstance(event, Dropped) and event.bundle.spends:
            yield from self._dropped(event, before, effects)
        stuck = {
            effect.news.name: effect.news.fee
            for effect in effects
            if isinstance(effect, Tell) and isinstance(effect.news, FeeTooLow)
        }
        known = {offer.key for offer in before.fees.offers if offer.reported}
        for name in stuck.keys() - {
            offer.push.name
            for offer in after.fees.offers
            if offer.reported and offer.key not in known
        }:
            yield f"its player hears again that the fee of its {name} is too low"
        for offer in after.fees.offers:
            name = offer.push.name
            if not offer.reported or offer.key in known:
                continue
            is_alone = [one.push.name for one in after.fees.offers].count(name) == 1
            if name not in stuck:
                yield f"its player does not hear that the fee of its {name} is too low"
            elif is_alone and stuck[name] != offer.fee:
                yield f"its player hears of a fee of {stuck[name]:,} for its {name}"

    def _dropped(
        self, event: Dropped, before: PeerState, effects: Sequence[Effect]
    ) -> Iterator[str]:
        """A spend that the node has dropped is offered anew, or its player hears of it once."""
        coin = event.bundle.spends[0].coin.id
        tells = any(
            isinstance(effect, Tell) and isinstance(effect.news, SpendDropped) for effect in effects
        )
        if tells and coin in self.told:
            yield f"its player hears again that its {event.name} is dropped"
        # It may have known before a failed disk ended its process, which nobody could hear.
        known = coin in self.told or coin in before.fees.dropped
        if not (tells or known or event.name == SPLIT):
            spent = {
                spend.coin.id
                for effect in effects
                if isinstance(effect, Push)
                for spend in effect.bundle.spends
            }
            # What replaces a pin begins with any spend of the pin.
            coins = {spend.coin.id for spend in event.bundle.spends}
            offered = coins if event.name == UNPIN else {coin}
            if not offered & spent and not _has_answered(before, event):
                yield f"its player does not hear that its {event.name} is dropped"
        if tells:
            self.told.add(coin)


def _has_answered(state: PeerState, event: Dropped) -> bool:
    """True for a spend that was offered anew as often as may be at this height."""
    spent = {spend.coin.id for spend in event.bundle.spends}
    return any(
        offer.key in spent and offer.height == state.block.peak and offer.answers >= MOST_ANSWERS
        for offer in state.fees.offers
    )
