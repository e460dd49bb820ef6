"""Cases for coverage that nobody named: stored ones, those of campaigns, and honest play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from channelsim.channel.campaign.directory import CORPUS, is_campaign, read_campaign
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.corpus import CaseRuns, StoredCase, own_corpus, read
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL

HANDS = 100
"""Hands of honest play."""

SEED = b"coverage"


class CaseSource(NamedTuple):
    """Where cases come from, in words, and the cases, or what is wrong with them."""

    name: str
    cases: Iterator[StoredCase]


def gathered(target: Target, searched: Sequence[Path]) -> Iterator[CaseSource]:
    """The cases of a target that are stored or played: those of its game's package, of its file of
    honest play, of corpora in the `searched` folders, and of hands that are played now.

    What searches found has no expected outcome here: that of an earlier program may be another one.
    """
    own = own_corpus(target)
    if own is not None:
        yield CaseSource("the game's package", read(target, own))
    if target.honest:
        yield CaseSource("recorded play", _recorded(target))
    for folder in searched:
        yield CaseSource(str(folder), map(_without_outcome, read(target, folder)))
    if target.rules is not None:
        yield CaseSource(f"{HANDS} hands of honest play", _played(target))


def corpora(target: Target, here: Path, home: Path) -> list[Path]:
    """The corpora of a target's searches: that of the last `fuzz`, in `home`, and those of
    campaigns that are folders in `here`."""
    folders = [home] if any(home.glob("*.jsonl")) else []
    for folder in sorted(path for path in here.iterdir() if path.is_dir() and is_campaign(path)):
        try:
            name = read_campaign(folder).configuration.target
        except UsageError:
            continue
        if name == target.name and any((folder / CORPUS).glob("*.jsonl")):
            folders.append(folder / CORPUS)
    return folders


def _without_outcome(case: StoredCase) -> StoredCase:
    return msgspec.structs.replace(case, differs=None)


def _recorded(target: Target) -> Iterator[StoredCase]:
    """The cases of the file of honest play."""
    runs = CaseRuns(target)
    for case in target.honest:
        if case.validator not in target.missing:
            yield runs.stored(case)


def _played(target: Target) -> Iterator[StoredCase]:
    """Each move of some hands, without evidence and with all that its receiver has."""
    for hand in islice(hands(target, SEED), HANDS):
        for turn in hand:
            site = site_of(target, turn)
            if site.validator in target.missing:
                continue
            for evidence in dict.fromkeys((NIL, *site.held)):
                arguments = site.environment(site.play.move, site.play.share, evidence)
                yield StoredCase("honest play", site.validator, arguments, None)
