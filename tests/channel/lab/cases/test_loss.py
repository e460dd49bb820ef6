"""A theft is shown by a case in which somebody loses money; without one it is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from channelsim.channel.findings.finding import DISAGREEMENT, THEFT, Finding
from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.fuzz.findings import shrunk as described
from channelsim.channel.lab.fuzz.findings import still_broken
from channelsim.channel.lab.fuzz.shrink import Shrinker, broken_by
from channelsim.channel.lab.laws import Law, laws
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from tests.channel.lab.broken import target_file
from tests.sampling import one_in

FILE = "calpoker/e.clsp"
LEGAL = "(q 0 0 0)"
LONG = "(= (strlen MOVE) 18) "

ALWAYS = {
    "legal moves are slashed": (FILE, LEGAL, "()"),
    "the slash of a short move raises": (FILE, LONG, f"(if {LONG} 1 (x))"),
}
"""Mistakes by which somebody loses, though not in each case that shows them."""

NEVER = {
    "legal moves that leave everything are slashed": (
        *(FILE, LEGAL, f"(if (= MOVER_SHARE AMOUNT) () {LEGAL})"),
    ),
    "the slash of a short move that leaves everything raises": (
        *(FILE, LONG, f"(if (= MOVER_SHARE AMOUNT) (if {LONG} 1 (x)) {LONG})"),
    ),
}
"""Mistakes by which nobody loses: whose slash it is gets everything anyhow."""


def reveals(target: Target) -> Iterator[Site]:
    """Places of the last move, on plain hands."""
    for turn in plain_hands(target, b"losses"):
        if turn.before.validator == "e":
            yield make_site(target, turn.before, turn.play, turn.amount, turn.receiver)


def that_leaves(target: Target, everything: bool) -> Site:
    return next(
        site
        for site in islice(reveals(target), 200)
        if (site.play.share == site.amount) is everything
    )


def case_at(site: Site, fault: str) -> SiteCase:
    """The honest move, or one byte less of it."""
    move = site.play.move[:-1] if "short" in fault else site.play.move
    return make_case(site, "planted", move, site.play.share, site.held[-1])


def agree() -> Law:
    return next(law for law in laws() if law.name == "verdicts agree")


def found_at(target: Target, case: SiteCase) -> Finding:
    (found,) = broken_by(target, agree(), case, LabTally())
    return found


def shrunk(target: Target, finding: Finding, case: SiteCase) -> SiteCase:
    plain = list(islice(reveals(target), 6))
    assert any(site.play.share < site.amount for site in plain)
    return Shrinker(target, agree(), finding, plain).shrink(case)


def some(faults: Iterable[str], now: str) -> list[ParameterSet]:
    """Each fault compiles all programs anew: those that are not about `now` are for later."""
    return [pytest.param(one, marks=[] if now in one else [pytest.mark.long]) for one in faults]


@pytest.mark.parametrize("fault", one_in(2, some(ALWAYS, "legal")))
def test_a_theft_is_shown_by_a_case_with_a_loss(fault: str, tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "calpoker", ALWAYS[fault])))
    losing = found_at(target, case_at(that_leaves(target, everything=False), fault))
    assert (losing.severity, losing.believable()) == (THEFT, losing)
    assert losing.lost > 0
    # Found first where nobody loses, it is still shown where somebody does: all of the amount.
    case = case_at(that_leaves(target, everything=True), fault)
    first = found_at(target, case)
    assert first.lost == 0
    smaller = shrunk(target, first, case)
    shown = described(target, smaller, found_at(target, smaller), 1)
    assert (shown.severity, shown.cause) == (THEFT, first.cause)
    assert shown.lost == smaller.site.amount
    assert f"{shown.lost:,} mojos" in shown.text
    assert "nobody loses" not in shown.text


@pytest.mark.parametrize("fault", one_in(2, some(NEVER, "short")))
def test_without_a_loss_there_is_no_theft(fault: str, tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "calpoker", NEVER[fault])))
    assert not broken_by(target, agree(), case_at(that_leaves(target, everything=False), fault))
    case = case_at(that_leaves(target, everything=True), fault)
    first = found_at(target, case)
    smaller = shrunk(target, first, case)
    finding = found_at(target, smaller)
    shown = described(target, smaller, finding, 1)
    assert (shown.severity, shown.lost) == (DISAGREEMENT, 0)
    assert "in the cases found no side loses money by it" in shown.text
    assert "In the case shown" not in shown.text
    data = {"rule": shown.rule, "cause": shown.cause, "probe": shown.probe}
    (said,) = still_broken(target, data)
    assert said.startswith(f"{DISAGREEMENT}: e: ")


def test_the_case_with_the_greatest_loss_is_kept(tmp_path: Path) -> None:
    fault = "legal moves are slashed"
    target = load(str(target_file(tmp_path, "calpoker", ALWAYS[fault])))
    without = found_at(target, case_at(that_leaves(target, everything=True), fault))
    losing = found_at(target, case_at(that_leaves(target, everything=False), fault))
    for order in ((without, losing), (losing, without)):
        tally, whole = LabTally(), LabTally()
        for one in order:
            tally.found(one)
            part = LabTally()
            part.found(one)
            whole.merge(part)
        assert tally.causes() == whole.causes() == [msgspec.structs.replace(losing, times=2)]
    alone = LabTally()
    alone.found(without)
    (found,) = alone.causes()
    assert found.severity == DISAGREEMENT
