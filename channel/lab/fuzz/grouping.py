"""One finding for each mistake: what follows from another finding stands under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TypeAlias

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.fields import Probe, fields, keeping
from channelsim.channel.lab.cases.loss import LEGAL_SLASHED, MISDECLARED
from channelsim.channel.lab.fuzz.findings import root, root_of
from channelsim.channel.lab.fuzz.shrink import broken_by
from channelsim.channel.lab.laws import Law
from channelsim.channel.lab.targets.target import Target

MOST_FIELDS = 16
"""A case with more changes than this is not taken apart."""

Root: TypeAlias = tuple[str, str]
"""A mistake: its validator, and the cause without its symptom."""

_REFEREES: Mapping[str, tuple[str, ...]] = {
    f"{MISDECLARED}: terminal flag": ("slash path", f"{MISDECLARED}: commitment"),
    f"{MISDECLARED}: size limit of nothing": ("slash path", f"{MISDECLARED}: size limit"),
    f"{MISDECLARED}: commitment": ("slash path",),
    f"{MISDECLARED}: size limit": ("slash path",),
}
"""Causes in the referee, and those from which each follows where they are found as well."""


def followed(target: Target, law: Law, probe: Probe, cause: str) -> str:
    """The cause from which a finding follows; "" for none.

    It follows if the program does the same, by another cause, once one of the case's changes is
    undone: what that change breaks is not what the program gets wrong.
    """
    changed = fields(probe)
    if len(changed) > MOST_FIELDS:
        return ""
    for one in changed:
        smaller = keeping(probe, frozenset(changed) - {one})
        for finding in broken_by(target, law, smaller):
            if finding.cause != cause and _symptom(finding.cause) == _symptom(cause):
                return finding.cause
    return ""


def _symptom(cause: str) -> str:
    """The wrong behaviour of the program, without the rule that it is about.

    >>> _symptom("SP-END-2: raise"), _symptom("SP-END-2"), _symptom("a legal move is slashed: X")
    ('raise', 'accepts', 'a legal move is slashed')
    """
    head, _, symptom = cause.partition(": ")
    return head if head == LEGAL_SLASHED else symptom or "accepts"


def grouped(found: Iterable[Finding]) -> list[Finding]:
    """One finding for each mistake, the worst first; `also` names those that follow from it."""
    every = list(found)
    known = {root(one) for one in every}
    above = {root(one): root_of(one.place, one.follows) for one in every if one.follows}
    independent = {root(one) for one in every if not one.follows or above[root(one)] not in known}
    groups: dict[Root, list[Finding]] = {}
    for one in every:
        groups.setdefault(_mistake(one, independent, above), []).append(one)
    made = []
    for mistake, same in groups.items():
        first = min(
            (one for one in same if root(one) == mistake),
            key=lambda one: (one.rank, one.fields[1], not one.compared, -one.lost),
        )
        also = dict.fromkeys(line for one in same for line in one.also)
        also.update(dict.fromkeys(_in_short(one) for one in same if one is not first))
        also.pop(_in_short(first), None)
        made.append(msgspec.structs.replace(first, also=tuple(also)))
    return sorted(made, key=lambda one: (one.order_only, one.rank, one.place, one.cause))


def _mistake(one: Finding, independent: Set[Root], above: Mapping[Root, Root]) -> Root:
    """The mistake that a finding stands under: its own, or the one from which it follows."""
    own = root(one)
    same_rule = one.cause if one.order_only else ""
    for cause in (one.follows, same_rule, *_REFEREES.get(one.cause, ())):
        mistake = root_of(one.place, cause)
        passed = {own}  # what follows from a consequence stands under its first cause
        while mistake not in independent and mistake in above and mistake not in passed:
            passed.add(mistake)
            mistake = above[mistake]
        if cause and mistake in independent and mistake != own:
            return mistake
    return own


def _in_short(one: Finding) -> str:
    return f"{one.severity} at {one.place} ({one.rule}): {one.cause}"
