"""Rare deals: those by which hands meet that seldom do, found by small changes of other deals.

A game says what a deal compares (`Game.pack`). Two straight flushes meet once in millions of deals,
but a deal with one is a card or two away from a deal with a straight and a flush. So one deal of
each kind of meeting is remembered, and new deals are those with a card or a few exchanged. What
they have in common with no deal before is *wanted*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from channelsim.channel.lab.cases.duels import meeting
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.games.pack import Cards, Compared, Pack, Rank

FIRST, NEXT, LAST, NOTHING = range(4)
"""The levels of features, which are looked for in this order: see `RareDeals.features`."""

TOGETHER = 6
"""The deals that are tried for two comparisons that go together, since they divide pots of any
size; one deal is tried for anything else."""

FRESH = 0.05
"""The share of deals that are drawn anew."""

CROSSED = 0.25
"""The share of deals that have a run of cards from another one."""

SHIFTED = 0.1
"""The share of deals in which all cards are so many numbers further: where numbers go by rank, a
straight stays one, and becomes the least or the greatest there is."""

MIRRORED = 0.2
"""The share of deals in which a run of cards is repeated at another place with others near it,
mostly of the same ranks: so equal hands meet, and such with one difference."""

AWAY = (1, 2, 3, 4, 13, 26, 39, 48, -13, -3, -2, -1)
"""Distances in numbers from a card to those near it: another suit, or the next rank, where numbers
go by rank or by suit."""

RARER = 2
"""The known deals of which the next ones are near that whose feature was seen least."""

Names: TypeAlias = tuple[str, ...]
"""Names of comparisons."""


class Feature(NamedTuple):
    """A feature of deals that is looked for: of which comparisons, and whether first or last."""

    level: int
    names: Names
    what: tuple[object, ...]

    @property
    def times(self) -> int:
        """The deals that are tried for it."""
        return TOGETHER if len(self.names) > 1 else 1


class RareDeals:
    """The deals of a game that were looked at, and those that wait to be tried."""

    def __init__(self, pack: Pack, chance: FastChance) -> None:
        self._pack, self._chance = pack, chance
        self._known: dict[Feature, Cards] = {}
        self._parents: tuple[list[Feature], list[Feature]] = ([], [])
        self._seen: Counter[Feature] = Counter()
        self._tried: Counter[Feature] = Counter()
        self._waiting: tuple[dict[Feature, Cards], ...] = ({}, {}, {})
        self._edges: dict[tuple[object, ...], tuple[int, int]] = {}

    @property
    def eager(self) -> bool:
        """True if something waits that is wanted more than certain kickers."""
        return any(self._waiting[:LAST])

    def look(self, count: int) -> None:
        """Look at this many deals near those that are known."""
        for _ in range(count):
            cards = self._near()
            self.see(cards, self._pack.compared(cards))

    def see(self, cards: Cards, compared: Compared) -> int:
        """Note what is wanted of a deal: when the first of it is wanted, `NOTHING` for none."""
        first = NOTHING
        for feature in self.features(compared):
            level = feature.level
            if level < LAST:
                self._seen[feature] += 1
                if feature not in self._known:
                    self._parents[level].append(feature)
                self._known[feature] = cards  # the newest: equals lead to others in time
            if self._tried[feature] < feature.times:
                self._waiting[level][feature] = cards
                first = min(first, level)
        return first

    def take(self) -> tuple[Cards, Names] | None:
        """The deal that is wanted most, and the comparisons of the validator for which it is: they
        count as tried. None if none waits."""
        for waiting in self._waiting:
            while waiting:
                feature = self._chance.pick(tuple(waiting))
                cards = waiting[feature]
                compared = self._pack.compared(cards)
                if feature not in set(self.features(compared)):
                    del waiting[feature]  # what is least or greatest has changed since
                    continue
                judged = self._pack.judged
                places = {judged.get(name) for name in feature.names}
                names = tuple(name for name in compared if judged.get(name) in places)
                self.tried(compared, names)
                return cards, names
        return None

    def tried(self, compared: Compared, names: Names) -> None:
        """Count what a deal has of what is wanted, if these of its comparisons were tried."""
        for feature in self.features(compared):
            if not set(feature.names) <= set(names):
                continue
            self._tried[feature] += 1
            if self._tried[feature] >= feature.times:
                self._waiting[feature.level].pop(feature, None)

    def features(self, compared: Compared) -> Iterator[Feature]:
        """The features of a deal that the search looks for.

        First: that two classes meet, with better kickers on the worse side; at which kicker hands
        of one class differ, with the others equal or better on the worse side, or that they tie;
        the hands with the least or the greatest first kicker of a class; the closest hands of two
        classes or of one (`_is_close`); and how two comparisons at the end go together (a better
        high hand with equal low hands). All that whichever side is better. Next: the same with any
        kickers, for either side. Last: which kickers meet.
        """
        orders = []
        for name, (mine, theirs) in compared.items():
            order = (mine > theirs) - (mine < theirs)
            if name not in self._pack.judged:
                orders.append((name, order))
            general, *exact = meeting(mine, theirs)
            classes = general[:2]
            alike = mine[0] == theirs[0]
            sides = (mine[0],) if alike else tuple(sorted(classes))
            if alike:
                # At which kicker the first difference is, 0 for none, and who is better after it.
                at, rest = general[2][0], order * general[2][-1] if order else 0
                yield Feature(FIRST if rest <= 0 else NEXT, (name,), (*sides, at, rest))
            else:
                kickers = order * general[2][0]
                yield Feature(FIRST if kickers < 0 else NEXT, (name,), (*sides, kickers))
            edges = [self._edge((name, rank[0]), rank[1]) for rank in (mine, theirs)]
            if order and alike:
                yield from (Feature(FIRST, (name,), (*sides, *edge)) for edge in edges if edge)
            if order and self._is_close(name, *sorted((mine, theirs))):
                yield Feature(FIRST, (name,), (*sides, "close"))
            yield Feature(NEXT, (name,), general)
            for key in exact:
                yield Feature(LAST, (name,), key)
        for (name, order), (other, others_order) in combinations(orders, 2):
            sign = -1 if (order, others_order) < (0, 0) else 1
            yield Feature(FIRST, (name, other), (sign * order, sign * others_order))

    def _edge(self, key: tuple[object, ...], kickers: tuple[int, ...]) -> tuple[int, ...]:
        """The first kicker, with -1 or 1, if there was no lesser or no greater one by this key."""
        if not kickers:
            return ()
        first = kickers[0]
        least, most = self._edges.get(key, (first, first))
        self._edges[key] = min(least, first), max(most, first)
        if first <= least:
            return -1, first
        return (1, first) if first >= most else ()

    def _is_close(self, name: str, worse: Rank, better: Rank) -> bool:
        """True for the greatest hand of one class against the least of a better one, and for the
        least of a class, with the greatest second kicker, against the next."""
        low, high = (self._edge((name, rank[0]), rank[1]) for rank in (worse, better))
        if worse[0] != better[0]:
            return low[:1] == (1,) and high[:1] == (-1,)
        if low[:1] != (-1,) or better[1][0] != worse[1][0] + 1:
            return False
        second = self._edge((name, worse[0], "second"), worse[1][1:])
        return second[:1] == (1,) and better[1][1:] < worse[1][1:]

    def _near(self) -> Cards:
        """A deal near one that is known, or with cards of two, or a new one."""
        chance, dealt = self._chance, self._pack.dealt
        lot = chance.random()
        if lot < FRESH or not self._known:
            return tuple(chance.shuffled(range(self._pack.cards))[:dealt])
        cards, pack = self._parent(), self._pack.cards
        if lot < FRESH + SHIFTED:
            further = 1 + chance.below(pack - 1)
            return tuple((card + further) % pack for card in cards)
        if lot < FRESH + SHIFTED + CROSSED:
            start = chance.below(dealt)
            stop = chance.between(start + 1, dealt)
            return _laid(cards, start, self._parent()[start:stop])
        if lot < FRESH + SHIFTED + CROSSED + MIRRORED:
            cards = self._mirrored(cards)
            if chance.random() < 0.5:
                return cards
        for _ in range(1 + chance.below(2)):
            at = chance.below(dealt)
            near = (cards[at] + chance.pick(AWAY)) % pack
            cards = _laid(cards, at, (chance.pick((near, chance.below(pack))),))
        return cards

    def _mirrored(self, cards: Cards) -> Cards:
        """The cards with a run of them, or one half, repeated a few numbers away."""
        chance, dealt = self._chance, self._pack.dealt
        size = dealt // 2
        start, place = chance.pick(((0, dealt - size), (dealt - size, 0)))
        if chance.random() < 0.5:
            size = 1 + chance.below(size)
            start, place = (chance.below(dealt - size + 1) for _ in range(2))
        away = chance.pick(AWAY)
        run = [(card + away) % self._pack.cards for card in cards[start : start + size]]
        return _laid(cards, place, run)

    def _parent(self) -> Cards:
        """A known deal: half of the time for something wanted first, if there is any."""
        parents = self._chance.pick([parents for parents in self._parents if parents])
        picked = [self._chance.pick(parents) for _ in range(RARER)]
        return self._known[min(picked, key=self._seen.__getitem__)]


def _laid(cards: Cards, start: int, others: Sequence[int]) -> Cards:
    """The cards with others from a place on; cards that were elsewhere change places with them."""
    laid = list(cards)
    for at, card in enumerate(others, start):
        if card in laid:
            laid[laid.index(card)] = laid[at]
        laid[at] = card
    return tuple(laid)
