"""What a careful side accepts and cancels, beyond the rules of the protocol.

Its player decides about proposals; but what cannot be played safely must be cancelled, whatever the
player says, and nothing else may be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from channelsim.channel.protocol.messages import Accept, Batch, Cancel, Offer, Propose
from channelsim.channel.simulation.model.batch_rules import MOST, playable
from channelsim.channel.simulation.model.channel_terms import ChannelTerms
from channelsim.channel.simulation.model.ledger import LedgerState, stakes
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.deck.finished import FinishedDeck

MARGIN = 2 + 3
"""Blocks that a timeout leaves besides those that reorganisations can take."""

LONGEST_TIMEOUT = 7 * 4608
"""The longest game timeout, in blocks, that a careful side accepts: a week."""

LAWFUL: frozenset[str] = frozenset()


@dataclass
class CarefulSide:
    """The proposals and decks that the honest side has to be careful about."""

    confirmations: int
    spacing: int
    decks: dict[int, FinishedDeck] = field(default_factory=dict)
    """All decks that were ever ready, by number."""
    free: set[int] = field(default_factory=set)
    """The decks that no proposal has named."""
    misdealt: set[int] = field(default_factory=set)
    """The proposals that name a deck twice, or one that was not free."""
    cancelled: set[int] = field(default_factory=set)
    """The proposals that the honest player cancelled."""

    def adds_decks(self, decks: Iterable[FinishedDeck]) -> None:
        """Note decks that are ready."""
        for deck in decks:
            self.decks[deck.terms.number] = deck
            self.free.add(deck.terms.number)

    def breaks(
        self, batch: Batch, before: LedgerState, after: LedgerState, agreed: ChannelTerms
    ) -> frozenset[str]:
        """What a lawful batch of the honest side does against its care, or its player."""
        return self._careless(batch, before) or self._overruled(batch, before, after, agreed)

    def names_decks(self, batch: Batch) -> None:
        """Note the decks that proposals name, and those that they must not name."""
        for action in batch.actions:
            if isinstance(action, Propose):
                named = [offer.deck.number for offer in action.offers if offer.deck]
                if len(set(named)) < len(named) or not self.free.issuperset(named):
                    self.misdealt.add(action.offers[0].game_id)
                self.free.difference_update(named)

    def _careless(self, batch: Batch, before: LedgerState) -> frozenset[str]:
        """True if it accepts a game with too short a timeout, or with a used deck."""
        for action in batch.actions:
            if isinstance(action, Accept):
                if action.group_id in self.misdealt:
                    return frozenset({"the use of a deck for one game only"})
                for offer in before.open[action.group_id][1]:
                    if offer.timeout < self._least_timeout(offer):
                        return frozenset({f"the least timeout ({counted(offer.timeout, 'block')})"})
        return LAWFUL

    def _overruled(
        self, batch: Batch, before: LedgerState, after: LedgerState, agreed: ChannelTerms
    ) -> frozenset[str]:
        """True if it cancels a proposal that its player did not cancel.

        It must cancel what cannot be played, and what a balance does not cover. Settlements come
        before, and acceptances only lower a balance: what is covered after the batch was covered.
        """
        for action in batch.actions:
            ours = self.cancelled | self.misdealt
            if isinstance(action, Cancel) and action.group_id not in ours:
                proposer, offers = before.open[action.group_id]
                paid = [
                    stakes(offer, proposer)
                    for offer in offers
                    if self._fits(offer, proposer, agreed)
                ]
                covered = all(
                    sum(stake[side] for stake in paid) <= after.balances[side] for side in (0, 1)
                )
                room = len(after.games) + len(offers) <= MOST
                if len(paid) == len(offers) and covered and room:
                    return frozenset({f"the player's answer to proposal {action.group_id}"})
        return LAWFUL

    def _fits(self, offer: Offer, proposer: int, agreed: ChannelTerms) -> bool:
        """True if a careful side can play this offer."""
        game = playable(offer, proposer, agreed.referee_keys, self.decks)
        if game is None or game.coin.puzzle_hash() in agreed.rewards:
            return False
        return self._least_timeout(offer) <= offer.timeout <= LONGEST_TIMEOUT

    def _least_timeout(self, offer: Offer) -> int:
        """The least timeout, in blocks, that a careful side accepts."""
        reveals = offer.game in registry.names() and registry.get(offer.game).reveals
        return (self.confirmations * (2 if reveals else 1) + MARGIN) * self.spacing
