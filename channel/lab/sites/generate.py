"""The places that are tried: those of generated hands, or, without rules, those of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.hash_paths import HashPaths, rehashed, unopened
from channelsim.channel.lab.sites.honest_play import honest_sites, recorded_sites
from channelsim.channel.lab.sites.lies import Liars, recorded_lies
from channelsim.channel.lab.sites.other_decisions import unoffered_plays
from channelsim.channel.lab.sites.replays import RecordedHands, replayed
from channelsim.channel.lab.sites.site import Site, make_site, recommitted
from channelsim.channel.lab.sites.state_changes import disturbed
from channelsim.channel.lab.targets.target import Target
from channelsim.games.selfplay import PlayedMove

OFTEN = 1.3
"""A validator above this multiple of the average frequency is mostly skipped."""

TAKEN, SOMETIMES = 0.05, 0.3
"""The shares of a frequent validator's sites that are taken all the same, and of those whose move
has a rare length; without them, moves late in a hand would never be tried."""

SELDOM = 0.5
"""A length of a validator's moves is seldom tried below so much of the average."""


REPLAYED = 0.2
"""The share of recorded places after which a hand is played again with another secret, and of
generated hands that are."""

LIED = 0.5
"""The share of hands after which one with lies is played."""

LIED_ABOUT = 0.1
"""The share of recorded places after which a recorded hand is played again with a lie."""

UNOFFERED = 0.5
"""The share of generated places at which a player's logic is asked for plays that it does not
offer."""

OPENED_FIRST = 24
"""The first places of a validator at which a commitment that nothing opens is tried as well."""

PATIENCE = 100
"""The most hands that are played only to reach every validator once."""


def generate_sites(
    target: Target,
    seed: bytes,
    chance: FastChance,
    beyond: bool,
    paths: HashPaths | None = None,
) -> Iterator[Site]:
    """The places of hands without end, each followed by a few variants of it.

    First comes one place of each validator, as far as hands reach it. After that, validators that
    hands reach most often are mostly passed over, so that the last one is tried about as often as
    the first; of each, moves of a length that was seldom tried come first.
    `beyond`: also states that no play is known to reach. `paths`: also other bytes behind trees and
    chains of hashes, which takes traced runs.
    """
    if target.rules is None:
        yield from _of_recorded_hands(target, chance, paths)
    tried: Counter[str] = Counter()
    kinds: Counter[tuple[str, int]] = Counter()
    liars = Liars(target, chance)
    for number, hand in enumerate(hands(target, seed)):
        first = number < PATIENCE and len(tried) < len(target.programs)
        for turn in hand:
            name = turn.before.validator or ""
            liars.known[name].append(turn.play)
            kind = (name, len(turn.play.move))
            if first:
                if not tried[name]:
                    tried[name] += 1
                    yield site_of(target, turn, hand)
                continue
            often = tried[name] > OFTEN * tried.total() / len(target.programs) + 4
            seldom = kinds[kind] < SELDOM * kinds.total() / (len(kinds) + 1)
            if often and chance.random() > (SOMETIMES if seldom else TAKEN):
                continue
            site = site_of(target, turn, hand)
            if chance.random() < UNOFFERED:
                plays = tuple(unoffered_plays(turn.player, chance))
                site = msgspec.structs.replace(site, others=(*plays, *site.others))
            kinds[kind] += 1
            variants = [recommitted(target, site, chance) for _ in range(2)]
            if paths is not None and variants == [None, None]:
                path = paths.at(site)
                if path is not None:
                    variants = [rehashed(target, site, path, chance) for _ in range(2)]
            if paths is not None and tried[name] < OPENED_FIRST:
                path = paths.at(site)
                if path is not None:
                    root = chance.pick(path.roots)
                    variants.append(unopened(target, site, root, chance))
            if beyond and chance.random() < 0.4:
                variants.append(disturbed(target, site, chance))
            for place in (site, *variants):
                if place is not None:
                    tried[name] += 1
                    yield place
        if chance.random() < REPLAYED:
            sites = [site_of(target, turn) for turn in hand]
            for place in replayed(target, sites, chance, paths=paths):
                tried[place.validator] += 1
                yield place
        if chance.random() < LIED:
            yield from liars.places()


def _of_recorded_hands(
    target: Target, chance: FastChance, paths: HashPaths | None
) -> Iterator[Site]:
    recorded = RecordedHands(recorded_sites(target))
    for site in honest_sites(target, chance):
        yield site
        if chance.random() < REPLAYED:
            yield from replayed(target, recorded.pick(chance), chance, paths=paths)
        if chance.random() < LIED_ABOUT:
            yield from recorded_lies(target, recorded.pick(chance), chance)


def site_of(target: Target, turn: PlayedMove, hand: Sequence[PlayedMove] = ()) -> Site:
    """The place at which a move of a hand is judged."""
    others = tuple(other.play for other in hand if other is not turn)
    site = make_site(target, turn.before, turn.play, turn.amount, turn.receiver, others=others)
    led = takewhile(lambda other: other is not turn, hand)
    return msgspec.structs.replace(site, led=tuple((other.before, other.play) for other in led))
