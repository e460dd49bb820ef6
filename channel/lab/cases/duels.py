"""Calls in which the hands of both players are compared: duels, and meetings of every class.

Random selections are mostly poor hands, so that comparisons of good hands are rarely tried. In a
duel each side searches for a better selection in turn: the rules decide which gets more, and both
improve until one finds nothing better. Each pair on the way comes with the least share that the
rules allow and with the next lower number: if the program compares the two selections differently,
it differs on one of these.

A program that takes one class of hands for another is wrong only where these two meet, and good
hands seldom meet. A game that says how its rules rank two hands (`Game.showdown`) has every class
tried against every other and against itself. Only cards are computed of each deal: all selections
of one side are matched with all of the other, and a call is made where two hands meet in a way that
they did not before. Meetings that hardly any deal offers come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from channelsim.channel.lab.cases.mutator import SELECTIONS
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.sites.values import numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import Value
from channelsim.games.contract import Raise, Rank, Slash, State, Valid, Verdict

TURNS = 12
"""The most turns of a duel."""


def duel(target: Target, site: Site, chance: FastChance) -> Iterator[Call]:
    """The calls of one duel at this site; none where the verdict does not depend on evidence
    and share, or where every selection is refused."""
    judge = partial(site.rules_say, target)
    shares = numbers(site.state, site.amount, site.play.share)
    move, evidence = site.play.move, site.held[-1]
    if not move or not isinstance(judge(move, shares[-1], b""), Raise):
        return
    if chance.random() < 0.8 or not isinstance(judge(move, shares[-1], evidence), Valid):
        takes = (
            selection
            for selection in _mixed(chance)
            if isinstance(judge(move, shares[-1], selection), Valid)
        )
        first = next(takes, None)
        if first is None:
            return
        evidence = first
        shown = (move[:-1] + last for last in _mixed(chance))
        move = next(m for m in shown if isinstance(judge(m, shares[-1], evidence), Valid))
    for turn in range(TURNS):
        least = least_share(shares, judge, move, evidence)
        yield move, shares[least], evidence
        if not least:
            return
        yield move, shares[least - 1], evidence
        if turn % 2:
            better = (
                (other, evidence)
                for other in (move[:-1] + last for last in _mixed(chance))
                if isinstance(judge(other, shares[least - 1], evidence), Valid)
            )
        else:
            better = (
                (move, selection)
                for selection in _mixed(chance)
                if isinstance(judge(move, shares[least], selection), Slash)
            )
        pair = next(better, None)
        if pair is None and turn:
            return
        move, evidence = pair or (move, evidence)


def _mixed(chance: FastChance) -> list[bytes]:
    return chance.shuffled(SELECTIONS)


def least_share(
    shares: tuple[int, ...],
    judge: Callable[[bytes, int, Value], Verdict],
    move: bytes,
    evidence: Value,
) -> int:
    """The index of the least share that is legal; the last one is known to be."""
    low, high = 0, len(shares) - 1
    while low < high:
        middle = (low + high) // 2
        if isinstance(judge(move, shares[middle], evidence), Valid):
            high = middle
        else:
            low = middle + 1
    return low


TIMES = 1
"""The number of times that each meeting is tried."""

CREDIT, A_PAIR_IN = 100, 6
"""The pairs of selections that are tried at first, and the deals for each later one. Two classes
that have seldom met may overdraw by as much as there was at first."""

SELDOM = 8
"""Two classes have seldom met until so many pairs of theirs were tried."""

RARE = 1 / 128
"""The share of deals that have a hand of a class which is rare."""

AT_A_DEAL = 6
"""The most pairs that are tried of one deal."""

LOOKED_AT = 24
"""The most pairs of two classes that are looked at in one deal, besides the best and the worst."""

BARREN = 8
"""Two classes that offered nothing new in so many deals are looked at less and less often."""

Class: TypeAlias = tuple[int, ...]
_Kickers = TypeVar("_Kickers", int, tuple[int, ...])

Meeting: TypeAlias = tuple[Class, Class, tuple[int, ...]]
"""The classes of the mover's and of the waiter's hand, and how they meet. Of one class: at which
kicker the first difference is, both kickers there, and who is better in the rest. Of two classes:
whose kickers are better, and the first kicker of either side."""


def meeting(mover: Rank, waiter: Rank) -> Iterator[Meeting]:
    """The ways in which two hands meet, each common to all calls that compare two hands so.

    >>> list(meeting(((3, 2), (9, 4)), ((3, 1, 1), (9, 8, 2))))
    [((3, 2), (3, 1, 1), (-1,)), ((3, 2), (3, 1, 1), (0, 9)), ((3, 2), (3, 1, 1), (1, 9))]
    >>> list(meeting(((3, 2), (9, 4)), ((3, 2), (9, 2))))
    [((3, 2), (3, 2), (2, 1, 0)), ((3, 2), (3, 2), (2, 4, 2, 0))]
    >>> list(meeting(((5,), (2,)), ((5,), (2,))))
    [((5,), (5,), (0, 2))]
    """
    (own, mine), (other, theirs) = mover, waiter
    if own != other:
        yield own, other, (_order(mine, theirs),)
        yield own, other, (0, *mine[:1])
        yield own, other, (1, *theirs[:1])
        return
    pairs = enumerate(zip(mine, theirs, strict=False), 1)
    first = next((at for at, (left, right) in pairs if left != right), 0)
    if not first:
        yield own, other, (0, *mine[:1])
        return
    left, right = mine[first - 1], theirs[first - 1]
    rest = _order(mine[first:], theirs[first:])
    yield own, other, (first, _order(left, right), rest)
    yield own, other, (first, left, right, rest)


def _order(mine: _Kickers, theirs: _Kickers) -> int:
    """1 if the first is greater, -1 if the second is, 0 if they are equal."""
    return int(mine > theirs) - int(mine < theirs)


class Pair(NamedTuple):
    """The selections of both sides in one deal, as the last bytes of the move and as evidence."""

    move: bytes
    evidence: bytes


class Meetings:
    """The meetings that were tried so far on one target, each with the times.

    Meetings with the waiter's best hand count by themselves: only then no evidence of its own is
    better, and a mistake costs it money. `promising`: the last deal had a hand of a rare class, so
    that deals with some of the same cards are worth more.
    """

    def __init__(self, target: Target, chance: FastChance | None = None) -> None:
        self._target = target
        self._showdown = None if target.rules is None else target.game.showdown
        self._chance = chance or FastChance(b"meetings")
        self._selections: dict[str, list[bytes]] = {}
        self._tried: Counter[tuple[Class, Class]] = Counter()
        self._barren: Counter[tuple[Class, Class]] = Counter()
        self._best: Counter[Meeting] = Counter()
        self._credit = float(CREDIT)
        self._deals = 0
        self._dealt: Counter[Class] = Counter()
        self.promising = False
        self.counts: Counter[Meeting] = Counter()

    def at(self, site: Site) -> bool:
        """True if hands are compared at this site."""
        return bool(self._taken(site))

    def calls(self, site: Site) -> Iterator[Call]:
        """The calls at this site by which hands meet that seldom did: each with the least share
        that the rules allow, and with the next lower number."""
        yield from self.at_the_limit(site, self.pairs(site, site.before.state, site.play.move))

    def best(self, site: Site) -> Iterator[Call]:
        """As `calls`, with the best hands of both sides, whether they have met or not."""
        hands = self._dealt_hands(site, site.before.state, site.play.move)
        if hands is not None:
            mine, theirs = hands
            yield from self.at_the_limit(site, [Pair(mine[max(mine)], theirs[max(theirs)])])

    def pairs(self, site: Site, state: State | None, move: bytes) -> list[Pair]:
        """The selections by which hands meet that seldom did, in a state of the site's validator
        and with a move there: those of other secrets than the site's, for example."""
        hands = self._dealt_hands(site, state, move)
        if hands is None:
            return []
        self._credit = min(self._credit + 1 / A_PAIR_IN, CREDIT)
        return self._new(*hands)

    def keys(self, state: State | None, move: bytes, evidence: Value) -> frozenset[Meeting]:
        """The ways in which the hands of a call meet; none where no hands are compared."""
        if self._showdown is None or state is None:
            return frozenset()
        ranks = self._showdown(state, move, evidence)
        return frozenset() if ranks is None else frozenset(meeting(*ranks))

    def with_best(
        self, site: Site, state: State | None, move: bytes, keys: Set[Meeting]
    ) -> Pair | None:
        """Selections by which the waiter's best hand meets one of the mover's in such a way."""
        hands = self._dealt_hands(site, state, move)
        if hands is None:
            return None
        mine, theirs = hands
        best = max(theirs)
        for mover, selection in mine.items():
            if not keys.isdisjoint(meeting(mover, best)):
                return Pair(selection, theirs[best])
        return None

    def _dealt_hands(
        self, site: Site, state: State | None, move: bytes
    ) -> tuple[dict[Rank, bytes], dict[Rank, bytes]] | None:
        """The mover's and the waiter's hands, each with a selection; None where none are
        compared."""
        mine, theirs = dict[Rank, bytes](), dict[Rank, bytes]()
        for selection in self._taken(site):
            ranks = self._ranks(state, move, selection)
            if ranks is None:
                return None  # this move or state is compared with none
            mine.setdefault(ranks[0], selection)
            theirs.setdefault(ranks[1], selection)
        return (mine, theirs) if mine else None

    def _new(self, mine: dict[Rank, bytes], theirs: dict[Rank, bytes]) -> list[Pair]:
        """The pairs of hands with something new in their meetings, the classes first
        that met least."""
        best = max(theirs)
        own, others = _by_class(mine), _by_class(theirs)
        dealt = own.keys() | others.keys()
        self._deals += 1
        self._dealt.update(dealt)
        self.promising = any(self._dealt[kind] <= self._deals * RARE for kind in dealt)
        classes = [(left, right) for left in own for right in others]
        chosen: list[Pair] = []
        for pair in sorted(classes, key=self._tried.__getitem__):
            seldom = self._tried[pair] < SELDOM
            if len(chosen) == AT_A_DEAL or self._credit < (-CREDIT if seldom else 0):
                break
            if self._chance.random() * (self._barren[pair] + 1) > BARREN:
                continue
            before = len(chosen)
            for mover, waiter in self._matched(own[pair[0]], others[pair[1]]):
                if len(chosen) < AT_A_DEAL and self._count(mover, waiter, waiter == best):
                    chosen.append(Pair(mine[mover], theirs[waiter]))
            tried = len(chosen) - before
            self._barren[pair] = 0 if tried else self._barren[pair] + 1
            self._tried[pair] += tried
            self._credit -= tried
        return chosen

    def _matched(self, own: list[Rank], others: list[Rank]) -> Iterator[tuple[Rank, Rank]]:
        """Hands of two classes, matched: those that are best and worst, and some of the rest."""
        yield from dict.fromkeys(
            (mover, waiter) for waiter in (others[-1], others[0]) for mover in (own[-1], own[0])
        )
        pairs = [(mover, waiter) for mover in own for waiter in others]
        yield from pairs if len(pairs) <= LOOKED_AT else self._chance.shuffled(pairs)[:LOOKED_AT]

    def _count(self, mover: Rank, waiter: Rank, best: bool) -> bool:
        """Count the meetings of two hands if there is a new one."""
        counts = self._best if best else self.counts
        meetings = list(meeting(mover, waiter))
        if all(counts[key] >= TIMES for key in meetings):
            return False
        for key in meetings:
            counts[key] = min(counts[key] + 1, TIMES)
            self.counts[key] = min(self.counts[key] + 1, TIMES)
        return True

    def at_the_limit(self, site: Site, pairs: Iterable[Pair]) -> Iterator[Call]:
        """Calls with these selections: with the least share that the rules allow, and with the next
        lower number."""
        judge = partial(site.rules_say, self._target)
        shares = numbers(site.state, site.amount, site.play.share)
        for pair in pairs:
            move = _selecting(site.play.move, pair.move)
            if isinstance(judge(move, shares[-1], pair.evidence), Valid):
                least = least_share(shares, judge, move, pair.evidence)
                yield move, shares[least], pair.evidence
                if least:
                    yield move, shares[least - 1], pair.evidence

    def _taken(self, site: Site) -> list[bytes]:
        """The selections that this validator takes, as the last bytes of a move and as evidence."""
        known = self._selections.get(site.validator)
        if not known:
            state, move = site.before.state, site.play.move
            pack = self._target.game.pack
            known = [
                selection
                for selection in dict.fromkeys((pack and pack.selections) or SELECTIONS)
                if self._ranks(state, move, selection) is not None
            ]
            self._selections[site.validator] = known
        return known

    def _ranks(
        self, state: State | None, move: bytes, selection: bytes
    ) -> tuple[Rank, Rank] | None:
        """The ranks of both hands by the same selection; None where none are compared."""
        if self._showdown is None or state is None or not move:
            return None
        return self._showdown(state, _selecting(move, selection), selection)


def _selecting(move: bytes, selection: bytes) -> bytes:
    """The move with another selection at its end."""
    return move[: len(move) - len(selection)] + selection


def _by_class(ranks: Iterable[Rank]) -> dict[Class, list[Rank]]:
    """The hands by class, in ascending order."""
    classes: dict[Class, list[Rank]] = {}
    for rank in sorted(ranks):
        classes.setdefault(rank[0], []).append(rank)
    return classes
