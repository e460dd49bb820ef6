"""Judge a batch, independently of the engine: all the rules that it breaks.

It is judged by the state before it, the holder of the potato, and the rules of the games. A careful
side keeps to more than the rules: its player decides about proposals; but what cannot be played
safely must be cancelled, whatever the player says, and nothing else may be.
Source: spec/channel.md, "The potato".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Move,
    Offer,
    Propose,
    Settle,
)
from channelsim.channel.simulation.model.channel_terms import ChannelTerms
from channelsim.channel.simulation.model.ledger import (
    Decks,
    LedgerGame,
    LedgerState,
    first,
    stakes,
)
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.errors import BadTerms, UnknownGame
from channelsim.games.referee import RefereeRefusal

ORDER = (Settle, Cancel, Accept, Move, Propose)
MOST = 100
"""The most live games, and open proposals, at once."""
FARTHEST = 2 * 1000
"""The most that an id may be above the least free one."""


@dataclass(frozen=True, slots=True)
class BatchVerdict:
    """The rules that a batch breaks, and the state after it if it breaks none.

    `slashable`: nothing is wrong but moves that the other side can slash. Then `after` is the
    declared state, which may be published.
    """

    rules: frozenset[str]
    after: LedgerState | None = None
    slashable: bool = False


def judge(
    before: LedgerState,
    batch: Batch,
    sender: int,
    agreed: ChannelTerms,
    decks: Decks,
    *,
    holder: int,
    asked: bool,
) -> BatchVerdict:
    """Judge a batch of this side; `asked`: the other side has requested the potato."""
    if holder != sender:
        return BatchVerdict(frozenset({"CH-BATCH-1"}))
    if batch.number != before.number + 1:
        return BatchVerdict(frozenset({"CH-BATCH-2"}))
    work = _Applied(before, sender, agreed, decks)
    rules = {rule for action in batch.actions for rule in work.apply(action)}
    kinds = [ORDER.index(type(action)) for action in batch.actions]
    if kinds != sorted(kinds):
        rules.add("CH-BATCH-3")
    owed = {game_id for game_id, game in before.games.items() if game.mover == sender}
    if not asked and any(work.games.get(game_id) == before.games[game_id] for game_id in owed):
        rules.add("CH-BATCH-6")
    if any(game.coin.puzzle_hash() in agreed.rewards for game in work.games.values()):
        rules.add("CH-COINS-1")
    after = work.account()
    if not rules:
        rules.update(agreed.unsigned(after, sender, (batch.channel_half, batch.unroll_half)))
    moved = (work.games[game_id] for game_id in work.moved & set(work.games))
    bad = [game for game in moved if game.faults]
    slashable = not rules and bool(bad) and all(game.illegal for game in bad)
    rules.update(rule for game in bad for rule in game.faults)
    return BatchVerdict(frozenset(rules), after if slashable or not rules else None, slashable)


class _Applied:
    """A state while the actions of a batch are applied to it."""

    def __init__(
        self, before: LedgerState, sender: int, agreed: ChannelTerms, decks: Decks
    ) -> None:
        self.number = before.number + 1
        self.sender = sender
        self.agreed = agreed
        self.decks = decks
        self.balances = list(before.balances)
        self.games = dict(before.games)
        self.open = dict(before.open)
        self.next_ids = list(before.next_ids)
        self.moved: set[int] = set()

    def account(self) -> LedgerState:
        """The state after the actions so far."""
        balances, ids = tuple(self.balances), tuple(self.next_ids)
        return LedgerState(
            self.number, (balances[0], balances[1]), self.games, self.open, (ids[0], ids[1])
        )

    def apply(self, action: BatchAction) -> Iterator[str]:
        """Apply an action, unless it breaks rules: yield those."""
        match action:
            case Settle(game_id):
                yield from self._settle(game_id)
            case Cancel(group_id):
                if self.open.pop(group_id, None) is None:
                    yield "CH-CANCEL-1"
            case Accept(group_id):
                yield from self._accept(group_id)
            case Move():
                yield from self._move(action)
            case Propose(offers):
                yield from self._propose(offers)

    def _settle(self, game_id: int) -> Iterator[str]:
        game = self.games.get(game_id)
        if game is None:
            yield "CH-SETTLE-1"
        elif game.mover != self.sender:
            yield "CH-SETTLE-2"
        else:
            del self.games[game_id]
            for side in (0, 1):
                self.balances[side] += game.share(side)

    def _accept(self, group_id: int) -> Iterator[str]:
        if group_id not in self.open:
            yield "CH-ACCEPT-1"
            return
        proposer, offers = self.open[group_id]
        if proposer == self.sender:
            yield "CH-ACCEPT-2"
        if len(self.games) + len(offers) > MOST:
            yield "CH-ACCEPT-4"
        keys = self.agreed.referee_keys
        started = [playable(offer, proposer, keys, self.decks) for offer in offers]
        if not all(started):
            yield "CH-ACCEPT-1"
            return
        del self.open[group_id]
        for offer, game in zip(offers, started, strict=True):
            for side, stake in enumerate(stakes(offer, proposer)):
                self.balances[side] -= stake
            if game is not None:
                self.games[offer.game_id] = game
        if min(self.balances) < 0:
            yield "CH-ACCEPT-3"

    def _move(self, action: Move) -> Iterator[str]:
        game = self.games.get(action.game_id)
        if action.game_id in self.moved:
            yield "CH-MOVE-3"
        if game is None:
            yield "CH-MOVE-1"
        elif game.mover != self.sender:
            yield "CH-MOVE-2"
        elif action.game_id not in self.moved:
            try:
                after = game.moved(
                    action.move, action.commitment, action.share, action.max_move_size
                )
            except RefereeRefusal as refusal:
                yield refusal.rule
                return
            self.moved.add(action.game_id)
            self.games[action.game_id] = after

    def _propose(self, offers: tuple[Offer, ...]) -> Iterator[str]:
        for offer in offers:
            least = self.next_ids[self.sender]
            if offer.game_id % 2 != self.sender:
                yield "CH-PROPOSE-1"
            elif not least <= offer.game_id <= least + FARTHEST:
                yield "CH-PROPOSE-2"
            else:
                self.next_ids[self.sender] = offer.game_id + 2
            game = playable(offer, self.sender, self.agreed.referee_keys, self.decks)
            # What cannot be played is for the other side to cancel.
            if game is not None and not _states_its_record(offer, self.sender, game):
                yield "CH-PROPOSE-4"
        if sum(len(group) for _, group in self.open.values()) + len(offers) > MOST:
            yield "CH-PROPOSE-3"
        self.open[offers[0].game_id] = (self.sender, offers)


def playable(
    offer: Offer, proposer: int, referee_keys: tuple[bytes, bytes], decks: Decks
) -> LedgerGame | None:
    """The game of an offer before the first move; None if it cannot be played."""
    try:
        return first(offer, proposer, referee_keys, decks)
    except (UnknownGame, BadTerms):
        return None


def _states_its_record(offer: Offer, proposer: int, game: LedgerGame) -> bool:
    """True if an offer states the record of its game."""
    coin = game.coin
    says = offer.amount, offer.stakes, offer.commitment, offer.max_move_size, offer.mover_share
    return says == (
        coin.amount,
        stakes(offer, proposer),
        coin.infohash_b,
        coin.max_move_size,
        coin.mover_share,
    )


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

    def kept_decks(self, states: Iterable[LedgerState]) -> dict[int, FinishedDeck]:
        """The decks that a side still has, whose newest states these are.

        It has those that are free, and those of open proposals and of games; a restart gives up
        all others, and no record can be compared with what their game would give.
        """
        kept = set(self.free)
        cards: set[bytes] = set()
        for state in states:
            offers = (offer for _, group in state.open.values() for offer in group)
            kept.update(offer.deck.number for offer in offers if offer.deck is not None)
            decks = (game.terms.deck for game in state.games.values())
            cards.update(deck.deck_id for deck in decks if deck is not None)
        return {
            number: deck
            for number, deck in self.decks.items()
            if number in kept or deck.deck in cards
        }

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
