"""`vectors make`: generated cases in the format of conformance vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.cases.deal_search import DealSearch
from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.crosscheck.chunks import CHUNK, chunks
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NotAList
from channelsim.games.vectors import Case, check

MOST_BARREN = 1000
"""Sites in a row without a new case after which there are none left."""


DEALT = 4
"""After so many sites of hands come those of a rare deal, in games that compare hands."""


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
    for site, tried in _proposed(target, seed, min(cases, CHUNK)):
        for case in tried:
            key = (site.validator, case.arguments)
            if key in seen:
                continue
            number = len(seen)
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


def _proposed(target: Target, seed: str, size: int) -> Iterator[tuple[Site, Sequence[SiteCase]]]:
    """The sites of hands with their cases, and between them those at which rare hands meet."""
    deals = DealSearch(target, derive(seed.encode(), "rare deals"))
    for number, trial in enumerate(chunks(target, seed, size), 1):
        yield trial.site, trial.cases
        if trial.site.natural and not trial.site.guessed:
            deals.remember(trial.site)
        if deals.ready and number % DEALT == 0:
            for site, calls in deals.calls():
                yield site, [make_case(site, "deal", *call) for call in calls]
