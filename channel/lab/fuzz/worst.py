"""The worst variant of a finding: a case that breaks the same rule, by which somebody loses money.

A search finds a mistake first where it does no harm: with another declared share, another hand or
another secret no evidence may slash the same move. What a mistake costs is said of the worst case
that is found near the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from channelsim.channel.findings.finding import THEFT, UNSLASHABLE, Finding
from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.cases.duels import Meetings
from channelsim.channel.lab.cases.runs import SLASH
from channelsim.channel.lab.cases.trial import LEGAL_SLASHED, LabTally
from channelsim.channel.lab.fuzz.shrink import broken_by, deviating
from channelsim.channel.lab.laws import Law
from channelsim.channel.lab.sites.deals import deals_at
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site, recommitted
from channelsim.channel.lab.sites.values import numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, Value

TRIES = 1200
"""The most variants of one finding that are tried."""

SPENT = 5_000_000_000
"""The most CLVM cost of them."""

DEALT = 1500
"""The deals in which the same meeting of hands is looked for, with the waiter's best hand."""

SECRETS = 6
"""The other secrets behind the commitment that the move opens."""


class Variant(NamedTuple):
    """A worse case, and its finding."""

    case: SiteCase
    finding: Finding


def worst_variant(
    target: Target, law: Law, case: SiteCase, finding: Finding, plain: Sequence[Site]
) -> Variant | None:
    """Look for a theft or an unslashable cheat by the rule that a finding is about.

    `plain` are places of plain hands at its validator. None where no variant loses anybody money.
    """
    if not case.site.natural or target.judge(finding.place) is None:
        return None
    chance, tally = FastChance(b"worst"), LabTally()
    worst: Variant | None = None
    for variant in islice(_variants(target, case, plain, chance), TRIES):
        for other in broken_by(target, law, variant, tally):
            if not _is_worse(finding.cause, other):
                continue
            if other.lost:
                return Variant(variant, other)
            worst = worst or Variant(variant, other)
        if tally.spent > SPENT:
            break
    return worst


def _is_worse(cause: str, other: Finding) -> bool:
    """True for a theft or an unslashable cheat by the rule of a cause; where the program slashes
    too much, also for the slash of a legal move."""
    if other.severity not in (THEFT, UNSLASHABLE):
        return False
    rule, _, symptom = cause.partition(": ")
    return rule in other.cause.split(": ") or (
        symptom == SLASH and other.cause.startswith(LEGAL_SLASHED)
    )


def _variants(
    target: Target, case: SiteCase, plain: Sequence[Site], chance: FastChance
) -> Iterator[SiteCase]:
    """Variants of a case: the same hands as the best ones, then other shares, evidence, places."""
    yield from _meeting(target, case, chance)
    yield from _around(case, chance)
    places: list[Iterable[SiteCase]] = [deviating(case, site) for site in plain]
    for _ in range(SECRETS):
        other = recommitted(target, case.site, chance, fresh=True)
        if other is not None:
            places.append(deviating(case, other))
    for variant in chain.from_iterable(places):
        yield variant
        yield from islice(_around(variant, chance), TRIES // 10)


def _around(case: SiteCase, chance: FastChance) -> Iterator[SiteCase]:
    """The case with the evidence that the opponent holds, and with other shares."""
    site, move = case.site, case.move
    held: tuple[Value, ...] = site.evidence(move)
    evidence = tuple(dict.fromkeys((*held, case.evidence, NIL)))
    shares = [share for share in numbers(site.state, site.amount, case.share) if share >= 0]
    for share in (case.share, site.play.share, 0, *chance.shuffled(shares)):
        if share <= site.amount:
            for value in evidence:
                yield make_case(site, case.tag, move, share, value)


def _meeting(target: Target, case: SiteCase, chance: FastChance) -> Iterator[SiteCase]:
    """Cases in which two hands meet as they do in this one, the waiter's being its best."""
    meetings, site = Meetings(target, chance), case.site
    keys = meetings.keys(site.before.state, case.move, case.evidence)
    deals = deals_at(target, site) if keys else None
    if deals is None:
        return
    for deal in deals.draw(chance, DEALT):
        pair = meetings.with_best(site, deal.state, deal.move, keys)
        place = deals.place(deal) if pair is not None else None
        if pair is not None and place is not None:
            for call in meetings.at_the_limit(place, (pair,)):
                yield make_case(place, case.tag, *call)
