"""One finding for each mistake: what follows from another finding stands under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TypeAlias

import msgspec

from channelsim.channel.findings.finding import THEFT, UNSLASHABLE, Finding
from channelsim.channel.lab.cases.case import SiteCase, fields, keeping
from channelsim.channel.lab.cases.trial import (
    LEADS_ELSEWHERE,
    LEGAL_SLASHED,
    MISDECLARED,
    NOT_BOUND,
    LabTally,
)
from channelsim.channel.lab.fuzz.findings import RECORDED, root, root_of
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


def followed(target: Target, law: Law, case: SiteCase, cause: str, tally: LabTally) -> str:
    """The cause from which a finding follows; "" for none.

    It follows if the program does the same, by another cause, once one of the case's changes is
    undone: what that change breaks is not what the program gets wrong. `tally` knows the programs
    that were cut off.
    """
    changed = fields(case)
    if len(changed) > MOST_FIELDS:
        return ""
    for field in changed:
        smaller = keeping(case, frozenset(changed) - {field})
        for finding in broken_by(target, law, smaller, tally):
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


def grouped(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each mistake, the worst first; `also` names those that follow from it."""
    findings = list(findings)
    known = set(map(root, findings))
    above = {
        root(member): root_of(member.place, member.follows) for member in findings if member.follows
    }
    independent = {
        root(member)
        for member in findings
        if not member.follows or above[root(member)] not in known
    }
    shown = independent & {root(finding) for finding in findings if finding.rule != RECORDED}
    groups: dict[Root, list[Finding]] = {}
    for finding in findings:
        mistake = _recorded(finding, shown) or _mistake(finding, independent, above)
        groups.setdefault(mistake, []).append(finding)
    leading = []
    for mistake, group in groups.items():
        first = min(
            (finding for finding in group if root(finding) == mistake),
            key=lambda member: (member.rank, member.fields[1], not member.compared, -member.lost),
        )
        also = dict.fromkeys(line for finding in group for line in finding.also)
        also.update(dict.fromkeys(_in_short(other) for other in group if other is not first))
        also.pop(_in_short(first), None)
        leading.append(msgspec.structs.replace(first, also=tuple(also)))
    return sorted(
        leading, key=lambda member: (member.order_only, member.rank, member.place, member.cause)
    )


def _recorded(finding: Finding, shown: Set[Root]) -> Root | None:
    """The mistake of the same kind that a law shows at the place of a recorded case."""
    kind = finding.cause.partition(": ")[0].partition(" (")[0]
    if finding.rule != RECORDED or kind not in (LEADS_ELSEWHERE, LEGAL_SLASHED):
        return None
    here = (mistake for mistake in sorted(shown) if mistake[0] == finding.place)
    return next((mistake for mistake in here if mistake[1].startswith(kind)), None)


def _mistake(finding: Finding, independent: Set[Root], above: Mapping[Root, Root]) -> Root:
    """The mistake that a finding stands under: its own, or the one from which it follows."""
    own = root(finding)
    same_rule = finding.cause if finding.order_only else ""
    follows = "" if _stands_alone(finding) else finding.follows
    for cause in (follows, same_rule, *_REFEREES.get(finding.cause, ())):
        mistake = root_of(finding.place, cause)
        passed = {own}  # what follows from a consequence stands under its first cause
        while mistake not in independent and mistake in above and mistake not in passed:
            passed.add(mistake)
            mistake = above[mistake]
        if cause and mistake in independent and mistake != own:
            return mistake
    return own


def _stands_alone(finding: Finding) -> bool:
    """True for a theft by a rule of its own: its author must see it, whatever it follows from."""
    named = finding.cause.partition(": ")[0] in (LEADS_ELSEWHERE, LEGAL_SLASHED, NOT_BOUND)
    costly = finding.severity in (THEFT, UNSLASHABLE) and not finding.order_only
    return costly and not named and root(finding)[1] != root_of(finding.place, finding.follows)[1]


def _in_short(finding: Finding) -> str:
    """What another finding of the same mistake says, without its case."""
    text = finding.text.partition(". ")[0].removesuffix(".")
    return f"{finding.severity} at {finding.place}: {text}"
