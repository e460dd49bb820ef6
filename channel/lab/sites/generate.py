"""The places that are tried: those of generated hands, or, without rules, those of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.honest_play import honest_sites
from channelsim.channel.lab.sites.site import Site, disturbed, make_site, recommitted
from channelsim.channel.lab.target.target import Target

OFTEN = 1.3
"""A validator above this multiple of the average frequency is mostly skipped."""

TAKEN, SOMETIMES = 0.05, 0.3
"""The shares of a frequent validator's sites that are taken all the same, and of those whose move
has a rare length; without them, moves late in a hand would never be tried."""

SELDOM = 0.5
"""A length of a validator's moves is seldom tried below so much of the average."""


def generate_sites(target: Target, seed: bytes, chance: FastChance, beyond: bool) -> Iterator[Site]:
    """The places of hands without end, each followed by a few variants of it.

    Validators that hands reach most often are mostly passed over, so that the last one is tried
    about as often as the first; of each, moves of a length that was seldom tried come first.
    `beyond`: also states that no play is known to reach.
    """
    if target.rules is None:
        yield from honest_sites(target, chance)
    made: Counter[str] = Counter()
    kinds: Counter[tuple[str, int]] = Counter()
    for turn in hands(target, seed):
        name = turn.before.validator or ""
        kind = (name, len(turn.play.move))
        often = made[name] > OFTEN * made.total() / len(target.programs) + 4
        seldom = kinds[kind] < SELDOM * kinds.total() / (len(kinds) + 1)
        if often and chance.random() > (SOMETIMES if seldom else TAKEN):
            continue
        site = make_site(target, turn.before, turn.play, turn.amount, turn.receiver)
        kinds[kind] += 1
        made[name] += 1
        yield site
        for _ in range(2):
            if (other := recommitted(target, site, chance)) is not None:
                made[name] += 1
                yield other
        if (
            beyond
            and chance.random() < 0.4
            and (other := disturbed(target, site, chance)) is not None
        ):
            made[name] += 1
            yield other
