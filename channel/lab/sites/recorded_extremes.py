"""Extremes without rules: recorded moves in other orders, as far as the programs take them.

Nobody says there which moves are legal, and no player makes any. But the programs say where each
recorded move leads at another place, and the states that they return show which of these hands
came further than all recorded ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import LONGEST
from channelsim.channel.lab.sites.honest_play import Recorded, recorded_sites
from channelsim.channel.lab.sites.known_hands import Goal, KnownHands, how_far
from channelsim.channel.lab.sites.lies import taken
from channelsim.channel.lab.sites.replays import RecordedHands
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.targets.target import Target
from channelsim.games.contract import Position, Valid
from channelsim.games.judge import position_after

Step: TypeAlias = tuple[Site, Valid | None]
"""A place of a hand, and where its move leads; None if the program does not take the move."""

OPTIONS = 4
"""The recorded moves that are tried at a place."""

A_LOOK = 40
"""The work of trying one."""

LIE = "moves of other hands follow on each other"


class RecordedExtremes:
    """Hands out of recorded moves, by the facts that their states show; a hand costs `work`."""

    def __init__(self, target: Target, secret: bytes) -> None:
        self._target = target
        self._chance = FastChance(secret)
        self._known: KnownHands[tuple[Step, ...]] = KnownHands(self._chance)
        sites = recorded_sites(target) if target.rules is None else ()
        self._recorded = RecordedHands(sites)
        self._moves: defaultdict[str, list[Site]] = defaultdict(list)
        for site in sites:
            self._moves[site.validator].append(site)
        self.work = 0.0

    @property
    def ready(self) -> bool:
        """True without rules, if any hand is recorded."""
        return bool(self._moves)

    def places(self) -> Iterator[tuple[Site, int]]:
        """The places of one hand that show something new, each with the number of cases that are
        worth trying there."""
        goal = self._known.next_goal()
        known = self._known.pick(goal)
        kept: Sequence[Step] = ()
        if known is not None:
            hand, at = known
            kept = hand[: self._chance.between(0, at + 1)]
        played = tuple(self._played(kept or self._begun(), goal))
        for at, (site, _) in enumerate(played):
            cases = self._known.learn(
                played, at, site.validator, site.state, site.amount, site.play
            )
            if cases and site.lie and site.validator in self._target.present:
                yield site, cases

    def _begun(self) -> tuple[Step]:
        """The first place of a recorded hand, and where its file says that it leads."""
        first = self._recorded.pick(self._chance)[0]
        return ((first, first.known),)

    def _played(self, kept: Sequence[Step], goal: Goal | None) -> list[Step]:
        """A hand that begins with these places, of which the last is the first to be judged."""
        hand = list(kept)
        while True:
            last, after = hand[-1]
            if after is None or after.next is None or len(hand) == LONGEST:
                return hand
            before = position_after(last.before, after.next, last.play.move, last.play.share)
            following = self._following(before, last.amount, goal)
            if following is None:
                return hand
            hand.append(following)

    def _following(self, before: Position, amount: int, goal: Goal | None) -> Step | None:
        """A place with a recorded move that the program takes, and where that leads: of a few the
        one that comes furthest to the goal, or the first; None if it takes none of them."""
        among = self._moves[before.validator or ""]
        best: Step | None = None
        furthest: tuple[bool, int] | None = None
        for _ in range(OPTIONS if among else 0):
            self.work += A_LOOK
            site = self._place(before, amount, self._chance.pick(among))
            after = (
                taken(self._target, site) if site.fits(site.play.move, site.play.share) else None
            )
            if after is None:
                continue
            if goal is None:
                return site, after
            far = how_far(goal, after.next)
            if furthest is None or far > furthest:
                best, furthest = (site, after), far
        return best

    def _place(self, before: Position, amount: int, recorded: Site) -> Site:
        """This position with the move and the evidence of a recorded place."""
        held = recorded.candidates(recorded.play.move)[1:]
        site = make_site(
            *(self._target, before, recorded.play, amount),
            Recorded(before, held, before.mover.other),
            guessed=True,
            others=recorded.others,
        )
        return msgspec.structs.replace(site, lie="" if site.state == recorded.state else LIE)
