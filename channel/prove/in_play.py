"""A counterexample at a place of play: how play comes to it, and what the lab's laws say there.

The solver knows nothing of how a state comes about. So what breaks a claim is tried at places of
hands: in the state that was played; with other commitments, secrets and amounts that one player
alone can bring about. A law that the program breaks there says who loses what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from time import thread_time
from typing import TypeAlias

import msgspec

from channelsim.channel.findings.finding import OWN_CHOICE, PLAYED, Finding, Reach
from channelsim.channel.lab.cases.case import SiteCase, fields, make_case
from channelsim.channel.lab.cases.describe import described_call
from channelsim.channel.lab.fuzz.findings import RECORDED, shrunk
from channelsim.channel.lab.fuzz.shrink import Shrinker, broken_by
from channelsim.channel.lab.laws import Law, applies, laws_for
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import LONGEST, hands, plain_hands
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.own_choice import is_own_choice
from channelsim.channel.lab.sites.site import Site, elsewhere, make_site
from channelsim.channel.lab.sites.values import leaves, with_leaf
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import (
    AMOUNT,
    EVIDENCE,
    LIMIT,
    MOVE,
    SHARE,
    STATE,
    coin_field,
    replaced,
)
from channelsim.channel.prove.claims import is_surely_broken
from channelsim.channel.prove.comparison import examine_size
from channelsim.channel.prove.counterexample import Counterexample, call_of
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.run import cut_offs
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize
from channelsim.games.chance import Chance
from channelsim.games.errors import BadTerms, IllegalMove
from channelsim.games.selfplay import PlayedMove, turns

PLACES = 60
"""Places of the validator in hands at which a counterexample is tried."""

MOST_PLACES = 1000
"""Places of which only the state is compared."""

HANDS = 200
"""The most hands that are played to find them."""

PLAIN, ENOUGH = 400, 6
"""Moves of plain hands, and places among them, on which a finding is shrunk."""

SOLVING = 10.0
"""Seconds of work for finding a case in the states that were played."""

ENDLESS = 12
"""The most runs of cases at all places that are cut off at the cost of a block."""

HASH = 32

FEW = 8
"""Hands about the amount of a counterexample."""

Broken: TypeAlias = tuple[Law, Finding]

Hand: TypeAlias = tuple[PlayedMove, ...]


def in_play(counterexample: Counterexample) -> Finding:
    """The finding of a counterexample, at a place of play where it can be shown there."""
    plain = counterexample.finding()
    placed = _placed(counterexample)
    if placed is None:
        reached = _is_played(counterexample)
        return msgspec.structs.replace(plain, reach=PLAYED) if reached else plain
    reach, case = placed
    finding = _by_laws(counterexample.blamed, case)
    return finding or msgspec.structs.replace(plain, reach=reach)


def _is_played(counterexample: Counterexample) -> bool:
    """True if its state was played, about its amount."""
    place = counterexample.state, counterexample.amount
    sites = islice(_sites(counterexample), MOST_PLACES)
    return any((site.state, site.amount) == place for site in sites)


def _placed(counterexample: Counterexample) -> tuple[Reach, SiteCase] | None:
    """The case at the first place of play at which it breaks the claim, in the state that was
    played if possible; None where no place is found."""
    played, most = list(islice(_sites(counterexample), PLACES)), cut_offs() + ENDLESS
    for case in _tried(counterexample, played, most):
        return PLAYED, case
    chosen = [changed for site in played for changed in _changed(counterexample, site)]
    for case in _tried(counterexample, chosen, most):
        return OWN_CHOICE, case
    return None


def _tried(counterexample: Counterexample, sites: Sequence[Site], most: int) -> Iterator[SiteCase]:
    """The cases at these places that break the claim: calls like that of the counterexample first,
    then those that the solver finds; none once so many runs of this process were cut off."""
    calls = (case for site in sites for case in _calls(counterexample, site))
    for case in chain(calls, _solved(counterexample, sites)):
        if cut_offs() >= most:
            return
        if _breaks(counterexample, case):
            yield case


def _solved(counterexample: Counterexample, sites: Sequence[Site]) -> Iterator[SiteCase]:
    """Cases that the solver finds in the states of places, of the sizes of the moves there and of
    the counterexample."""
    question, domain = counterexample.question, counterexample.question.domain()
    deadline = thread_time() + SOLVING
    size = len(counterexample.call[0])
    seen: set[tuple[bytes, int]] = set()
    for site in sites:
        place = serialize(site.state), site.amount
        if place in seen or thread_time() > deadline:
            continue
        seen.add(place)
        there = replace(domain, state=site.state, amount=site.amount)
        for length in dict.fromkeys((size, len(site.play.move))):
            with deep():
                report = examine_size(question.claim, there, length, deadline)
            if report.counterexample is not None:
                yield make_case(site, "prove", *call_of(report.counterexample))


def _sites(counterexample: Counterexample) -> Iterator[Site]:
    """Places of the validator in hands, or in recorded play.

    Hands end where the rules refuse a player's own move: what breaks the claim may be just that.
    """
    target, name = counterexample.blamed, counterexample.question.validator
    if target.rules is None:
        yield from (site for site in recorded_sites(target) if site.validator == name)
        return
    about_amount = _hands_of(target, counterexample.amount)
    played = islice(hands(target, b"prove"), HANDS)
    for hand in chain(_until_refused(about_amount), _until_refused(played)):
        yield from (site_of(target, turn, hand) for turn in hand if turn.before.validator == name)


def _until_refused(played: Iterator[Hand]) -> Iterator[Hand]:
    with suppress(IllegalMove):
        yield from played


def _hands_of(target: Target, amount: int) -> Iterator[Hand]:
    """A few hands about this amount, where the terms of the game can be chosen so: both players
    agree on these."""
    game, chance = target.game, Chance(b"prove")
    policies = list(game.policies.values())[:2]
    half = amount // 2
    stakes = ((1, half), (half, 1), (amount, 1), (1, amount), (amount // 20, 10))
    for unit, stack in stakes:
        try:
            terms = game.terms(game.default_parameters(unit, stack))
        except BadTerms:
            continue
        for _ in range(FEW):
            pair = (chance.pick(policies), chance.pick(policies))
            hand = tuple(islice(turns(game, target.hashes, terms, pair, chance), LONGEST))
            if not hand or hand[0].amount != amount:
                break
            yield hand


def _calls(counterexample: Counterexample, site: Site) -> Iterator[SiteCase]:
    """The call of the counterexample at a place, with parts of the call that was played there."""
    move, share, evidence = counterexample.call
    play = site.play
    shares = dict.fromkeys((share, play.share, 0, site.amount))
    for moved in dict.fromkeys((play.move, move)):
        for declared in shares:
            if not site.fits(moved, declared):
                continue
            for shown in (*site.held[:1], NIL, evidence):
                yield make_case(site, "prove", moved, declared, shown)


def _changed(counterexample: Counterexample, site: Site) -> Iterator[Site]:
    """The place with parts of the counterexample's state, where one player alone can choose
    these."""
    target = counterexample.blamed
    mine, theirs = list(leaves(site.state)), list(leaves(counterexample.state))
    hashes = [
        (at, new)
        for at, (old, new) in enumerate(zip(mine, theirs, strict=False))
        if old != new and len(old) == len(new) == HASH
    ]
    chosen: list[Value] = [counterexample.state]
    if len(mine) == len(theirs):
        chosen += (with_leaf(site.state, at, new) for at, new in hashes)
        all_changed = site.state
        for at, new in hashes:
            all_changed = with_leaf(all_changed, at, new)
        chosen.append(all_changed)
    for state in chosen:
        changed = elsewhere(target, site, state, site.amount, site.play, natural=True)
        if changed is not None and state != site.state and is_own_choice(target, changed):
            yield changed


def _breaks(counterexample: Counterexample, case: SiteCase) -> bool:
    """True if a case breaks the claim."""
    environment: Value = counterexample.environment
    parts = (
        (coin_field(MOVE), case.move),
        (coin_field(SHARE), int_to_atom(case.share)),
        (coin_field(AMOUNT), int_to_atom(case.site.amount)),
        (coin_field(LIMIT), int_to_atom(case.site.before.max_move_size)),
        (STATE, case.site.state),
        (EVIDENCE, case.evidence),
    )
    for steps, value in parts:
        environment = replaced(environment, steps, value)
    return is_surely_broken(counterexample.question.claim, environment)


# --- the laws ----------------------------------------------------------------------------------


def _by_laws(target: Target, case: SiteCase) -> Finding | None:
    """The worst that a law of the lab finds in a case, shrunk and described as a fuzzer's.

    What a law finds in other calls at this place has nothing to do with it.
    """
    name, call = case.site.validator, described_call(case.call)
    findings: list[Broken] = [
        (law, finding.believable())
        for law in laws_for(target)
        if applies(law, target, name)
        for finding in broken_by(target, law, case)
        if law.name != RECORDED and finding.call == call
    ]
    if not findings:
        return None
    law, finding = min(findings, key=lambda pair: (pair[1].rank, -pair[1].lost))
    smaller = Shrinker(target, law, finding, list(_plain(target, name))).shrink(case)
    same = [other for other in broken_by(target, law, smaller) if other.cause == finding.cause]
    if not same:
        smaller, same = case, [finding]
    worst = min(same, key=lambda other: (other.rank, -other.lost))
    return shrunk(target, smaller, worst, len(fields(case)))


def _plain(target: Target, name: str) -> Iterable[Site]:
    """Places of plain hands, on which findings are easy to read."""
    if target.rules is None:
        return islice((site for site in recorded_sites(target) if site.validator == name), ENOUGH)
    turns = islice(plain_hands(target, b"plain"), PLAIN)
    sites = (
        make_site(target, turn.before, turn.play, turn.amount, turn.receiver)
        for turn in turns
        if turn.before.validator == name
    )
    return islice(sites, ENOUGH)
