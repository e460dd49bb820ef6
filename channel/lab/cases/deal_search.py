"""The search for rare deals, in games that say what their deals compare (`Game.pack`).

Where a deck is prepared, hands are played with it stacked. Where a state has the cards, others are
put in their place. Where they come out of hashes, secrets are drawn, and only those that lead to a
rare deal are worth a place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import msgspec

from channelsim.channel.lab.cases.duels import Meetings
from channelsim.channel.lab.cases.rare_deals import LAST, Names, RareDeals
from channelsim.channel.lab.sites.deals import Deals, deals_at
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Call, Site, elsewhere
from channelsim.channel.lab.sites.stacked_hands import StackedHands
from channelsim.channel.lab.targets.target import Target
from channelsim.games.pack import Cards, Pack
from channelsim.plugins import wrong_answer

REMEMBERED = 64
"""The newest sites that the search remembers."""

LOOKED_AT, LOOKS_FIRST = 160, 16
"""The most deals that are looked at before each one that is tried, and how many times more before
the first."""

OF_SELECTIONS = 6144
"""The most selections of a side in those deals."""

LOOK, A_SELECTION = 5, 0.25
"""The work of looking at a deal, and that of each selection in it."""

PATIENCE = 8
"""The factor of the deals that are looked at until something comes that ranks before kickers."""

DRAWN, DRAW = 256, 20
"""The secrets that are drawn behind the commitment of one site, and the work of each."""

TRIES = 4
"""The hands that are played with one deal until one comes to the comparison."""

A_HAND = 1000
"""The work of playing a hand with a stacked deck."""

A_MEETING = 80
"""The work of looking for new meetings of selections at one place."""


class DealSearch:
    """Places with rare deals, each with calls that show how hands are compared there."""

    def __init__(self, target: Target, secret: bytes) -> None:
        self._target, self._chance = target, FastChance(secret)
        self._pack = None if target.rules is None else target.game.pack
        self._rare = None if self._pack is None else RareDeals(self._pack, self._chance)
        self._meetings = Meetings(target, self._chance)
        self._hands: StackedHands | None = None
        self._sites: deque[Site] = deque(maxlen=REMEMBERED)
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True if deals can be tried."""
        return self.stacks or bool(self._sites)

    @property
    def stacks(self) -> bool:
        """True if hands are played with a stacked deck."""
        return self._pack is not None and bool(self._target.game.deck_positions)

    @property
    def eager(self) -> bool:
        """True if there are deals left that are wanted for more than certain kickers.

        Always where secrets are drawn, since nobody knows what they lead to.
        """
        if self._rare is None or self._pack is None:
            return False
        drawn = not self.stacks and self._pack.stacked is None
        return drawn or self._rare.eager

    def remember(self, site: Site) -> None:
        """Keep a site if other cards can be put there, or other secrets lead to other cards."""
        pack = self._pack
        if pack is None or self.stacks:
            return
        state, move = site.before.state, site.play.move
        if state is None:
            return
        if pack.stacked is not None:
            if pack.stacked(state, move, tuple(range(pack.dealt))) is not None:
                self._sites.append(site)
        elif pack.read is not None and pack.read(state, move) is not None:
            self._sites.append(site)

    def calls(self) -> Iterator[tuple[Site, Sequence[Call]]]:
        """Places with a deal that is rare, with their calls."""
        if self._rare is None or self._pack is None:
            return
        if not self.stacks and self._pack.stacked is None:
            deals = deals_at(self._target, site := self._chance.pick(self._sites))
            if deals is not None:
                yield from self._drawn(self._pack, self._rare, deals, site)
            return
        selections = len(self._pack.selections)
        looks = min(LOOKED_AT, OF_SELECTIONS // max(selections, 1))
        most = PATIENCE if self.work else LOOKS_FIRST
        for _ in range(most):
            self._rare.look(looks)
            self.work += looks * (LOOK + selections * A_SELECTION)
            if self.eager and most == PATIENCE:
                break
        taken = self._rare.take()
        if taken is None:
            return
        cards, names = taken
        if self.stacks:
            yield from self._played(self._pack, cards, names)
        else:
            yield from self._laid(self._pack, cards)

    def _played(
        self, pack: Pack, cards: Cards, names: Names
    ) -> Iterator[tuple[Site, Sequence[Call]]]:
        """The places of a hand with these cards at which these comparisons are made; at the last
        one also with less for the waiter."""
        if self._hands is None:
            self._hands = StackedHands(self._target, self._chance)
        last = list(self._target.game.validators)[-1]
        judged = {pack.judged.get(name, last) for name in names}
        for _ in range(TRIES):
            self.work += A_HAND
            hand = self._hands.places(cards)
            sites = [site for site in hand if site.validator in judged]
            if sites:
                break
        for site in sites:
            move, share, evidence = site.play.move, site.play.share, site.held[-1]
            # What ends a hand gives the waiter what it is due, and not less.
            less = (share - 1,) if site is hand[-1] and share else ()
            yield site, [(move, other, evidence) for other in (share, *less)]
            if not self.eager:
                yield from self._met(site)

    def _laid(self, pack: Pack, cards: Cards) -> Iterator[tuple[Site, Sequence[Call]]]:
        """A remembered place with these cards instead of its own."""
        site = self._chance.pick(self._sites)
        state = site.before.state
        stacked = pack.stacked and state and pack.stacked(state, site.play.move, cards)
        if not stacked:
            return
        play = msgspec.structs.replace(site.play, move=stacked[1])
        value = stacked[0].value()
        other = elsewhere(self._target, site, value, site.amount, play, natural=True)
        if other is None:
            refused = f"a state with {cards} that the reader of {site.validator} refuses"
            raise wrong_answer(pack.stacked, stacked, refused)
        yield from self._met(other)

    def _drawn(
        self, pack: Pack, rare: RareDeals, deals: Deals, site: Site
    ) -> Iterator[tuple[Site, Sequence[Call]]]:
        """The places of those secrets, of many, that lead to a rare deal."""
        self.work += DRAWN * DRAW
        for deal in deals.draw(self._chance, DRAWN):
            cards = pack.read and pack.read(deal.state, deal.move)
            if not cards:
                continue
            compared = pack.compared(cards)
            if rare.see(cards, compared) < LAST and (place := deals.place(deal)) is not None:
                rare.tried(compared, tuple(compared))
                yield from self._met(place)

    def _met(self, site: Site) -> Iterator[tuple[Site, Sequence[Call]]]:
        """Calls at a place with the best selections of both sides, and by which others meet as
        they seldom did."""
        self.work += A_MEETING
        if calls := (*self._meetings.best(site), *self._meetings.calls(site)):
            yield site, calls
