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
from channelsim.channel.lab.cases.duels import Meetings, duel
from channelsim.channel.lab.cases.mutator import restructured
from channelsim.channel.lab.cases.runs import SLASH
from channelsim.channel.lab.cases.trial import LEGAL_SLASHED, LabTally, Trial
from channelsim.channel.lab.fuzz.shrink import broken_by, deviating
from channelsim.channel.lab.laws import Law
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.deals import deals_at
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site, recommitted
from channelsim.channel.lab.sites.values import leaves, numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import ProgramSlash, ProgramValid
from channelsim.clsp.values import NIL, Value
from channelsim.games.contract import Raise, Valid

TRIES = 1200
"""The most variants of one finding that are tried."""

SPENT = 5_000_000_000
"""The most CLVM cost of them."""

DEALT = 1500
"""The deals in which the same meeting of hands is looked for, with the waiter's best hand."""

SECRETS = 6
"""The other secrets behind the commitment that the move opens."""

PLACES = 160
"""The most places at which legal moves are tried against evidence that the rules refuse."""

ALIKE = 64
"""The pieces of such evidence at each of them, about."""

SHOWN = 16_000
"""The most runs with such evidence, and fewer of a program that costs more than usual."""

USUAL = 1_000_000
"""The usual CLVM cost of one."""


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
    variants = chain(
        islice(_variants(target, case, plain, chance), TRIES),
        _slashed_by_evidence(target, case, plain, chance),
    )
    for variant in variants:
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


def _slashed_by_evidence(
    target: Target, case: SiteCase, plain: Sequence[Site], chance: FastChance
) -> Iterator[SiteCase]:
    """Legal moves that the program slashes by evidence like the case's, where the rules refuse
    that: in other hands it may be worth more than all that an opponent can have."""
    if not isinstance(case.site.rules_say(target, *case.call), Raise):
        return
    places, left = [case.site, *plain], SHOWN * USUAL
    for number in range(PLACES):
        place: Site | None = places[number % len(places)]
        if place is not None and number >= len(places):
            place = recommitted(target, place, chance, fresh=True)
        if place is None:
            continue
        tally = LabTally(runaway={place.validator})
        trial = Trial(target, RefereeRunner(target), place, [], chance, tally)
        kinds = _like((case.evidence, *place.held), chance)
        outcome = trial.run(*trial.honest)
        cost = outcome.cost if isinstance(outcome, ProgramValid | ProgramSlash) else USUAL
        for move, share in _legal(target, place, chance):
            left -= max(cost, USUAL) * len(kinds)
            if left < 0:
                return
            for evidence in kinds:
                if trial.slashes(move, share, evidence):
                    yield make_case(place, case.tag, move, share, evidence)


def _legal(target: Target, place: Site, chance: FastChance) -> Iterator[tuple[bytes, int]]:
    """Legal moves of a place by which its mover keeps something: the honest one, and those of a
    duel with the best that its opponent has."""
    fought = (call[:2] for call in duel(target, place, chance))
    for move, share in dict.fromkeys(((place.play.move, place.play.share), *fought)):
        ruling, _ = place.ruling(target, move, share)
        if isinstance(ruling, Valid) and place.fits(move, share) and share < place.amount:
            yield move, share


def _like(values: Sequence[Value], chance: FastChance) -> list[Value]:
    """Evidence like these values: in another structure, or of bytes with as many bits set."""
    like = dict.fromkeys(values)
    for _ in range(ALIKE):
        value = chance.pick(values)
        if isinstance(value, tuple):
            like[restructured(value, tuple(leaves(value)), chance)] = None
        elif value:
            like[_mixed_bits(value, chance)] = None
    return list(like)


def _mixed_bits(atom: bytes, chance: FastChance) -> bytes:
    """As many bytes with as many bits set, at other places: masks select by them."""
    size = 8 * len(atom)
    ones = int.from_bytes(atom, "big").bit_count()
    return sum(1 << at for at in chance.shuffled(range(size))[:ones]).to_bytes(len(atom), "big")
