"""`vectors make`: generated cases in the format of conformance vectors."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.crosscheck.chunks import CHUNK, chunks
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NotAList
from channelsim.games.vectors import Case, check

MOST_BARREN = 1000
"""Sites in a row without a new case after which there are none left."""


class Disagreement(Exception):
    """Rules and program of a game disagree on a case; the message is one line with its id."""

    def __init__(self, case: Case, differences: list[str]) -> None:
        super().__init__(f"{case.id}: {'; '.join(differences)}")
        self.case = case


def make(target: Target, cases: int, seed: str) -> Iterator[Case]:
    """Generate this many different cases of an installed game, on which rules and program agree.

    It ends early when long nothing new was found that the format can hold. Raises `Disagreement`
    at the first case on which they do not agree.
    """
    seen: set[tuple[str, bytes]] = set()
    barren = 0
    for trial in chunks(target, seed, min(cases, CHUNK)):
        for case in trial.cases:
            key = (trial.site.validator, case.arguments)
            if key in seen:
                continue
            site, number = trial.site, len(seen)
            try:
                verdict = site.rules_say(target, *case.call)
                conformance = vector(target, site, case.call, verdict, case.tag, number)
            except NotAList:
                continue
            if differences := check(conformance):
                raise Disagreement(conformance, differences)
            seen.add(key)
            barren = -1
            yield conformance
            if len(seen) == cases:
                return
        barren += 1
        if barren == MOST_BARREN:
            return
