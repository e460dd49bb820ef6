"""Limits of a conformance: what nothing was tried on is not right, only unknown.

To add something, write a function of the subject and list it in `PARTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from types import MappingProxyType
from typing import TypeAlias

from channelsim.channel.kit.conformance import LostWork, Subject
from channelsim.channel.lab.cases.runs import SLASH, VALID
from channelsim.channel.lab.laws import laws_for
from channelsim.channel.lab.mutants.broken_rules import unbroken_rules
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.sites.hash_paths import HashPaths
from channelsim.games.amounts import counted

TURNS = 60
"""The moves of plain hands in which openings of commitments are looked for."""

Part: TypeAlias = Callable[[Subject], Iterator[str]]
"""Says in a line each what was not reached, of one kind of thing."""


def not_reached(subject: Subject) -> list[str]:
    """The limits of the checks of a subject, a line each; none for what is unknown because
    some work crashed its worker."""
    try:
        return [line for part in PARTS for line in part(subject)]
    except LostWork:
        return []  # the checks themselves say so


def rules(subject: Subject) -> Iterator[str]:
    """Rules that decided no case."""
    never = unbroken_rules(subject.target, subject.broken_rules)
    if never:
        yield f"rules that no case broke: {', '.join(never)}"


def verdicts(subject: Subject) -> Iterator[str]:
    """Validators that never found a move legal, or never slashed one."""
    outcomes = [subject.crosschecked.tally.outcomes, subject.fuzzed.tally.outcomes]
    for kind, said in _KINDS.items():
        never = [
            name
            for name in subject.target.present
            if not any(counts[name][kind] for counts in outcomes if name in counts)
        ]
        if never:
            yield f"{said}: {', '.join(never)}"


_KINDS = MappingProxyType(
    {
        VALID: "validators that found no move legal",
        SLASH: "validators that slashed no move",
    }
)


def laws(subject: Subject) -> Iterator[str]:
    """Laws that were tried nowhere."""
    tried = subject.crosschecked.tally.tried + subject.fuzzed.tally.tried
    never = [law.name for law in laws_for(subject.target) if not tried[law.name]]
    if never:
        yield f"laws that were never tried: {', '.join(never)}"


def dropped_tests(subject: Subject) -> Iterator[str]:
    """Tests of rules that there was no time to drop."""
    target = subject.target
    if any(target.judge(name) is not None for name in target.present):
        left = subject.enforced.left
        if left:
            places = ", ".join(f"{count} of {name}" for name, count in left.items())
            yield f"tests of rules that were never dropped: {places}"


def withheld(subject: Subject) -> Iterator[str]:
    """Differences in states that no play is known to reach, of which there are no findings."""
    cases = subject.crosschecked.tally.unreached + subject.fuzzed.tally.unreached
    if cases:
        yield (
            f"{counted(cases, 'case')} on which rules and program differ, in states that no"
            " play is known to lead to: no finding says so"
        )


def hidden_values(subject: Subject) -> Iterator[str]:
    """Values behind commitments, in a game that declares none as hidden."""
    target = subject.target
    if target.rules is None or target.game.hidden:
        return
    paths = HashPaths(target)
    opened = {
        turn.before.validator
        for turn in islice(plain_hands(target, b"hidden"), TURNS)
        if paths.at(site_of(target, turn)) is not None
    }
    places = [name for name in target.programs if name in opened]
    if places:
        opens = "opens" if len(places) == 1 else "open"
        yield (
            f"illegal values behind the commitments that {', '.join(places)} {opens}, but for"
            " random ones: the game declares none (`Game.hidden`)"
        )


PARTS: tuple[Part, ...] = (rules, verdicts, laws, dropped_tests, withheld, hidden_values)
"""All kinds of things, in the order in which they are printed."""
