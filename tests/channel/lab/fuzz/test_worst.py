"""A harmless finding is told by its worst variant, in which no evidence slashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.findings.finding import (
    DISAGREEMENT,
    GRIEFING,
    THEFT,
    UNSLASHABLE,
    Finding,
)
from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.cases.duels import Meetings
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.fuzz.findings import shrunk
from channelsim.channel.lab.fuzz.shrink import broken_by
from channelsim.channel.lab.fuzz.worst import worst_variant
from channelsim.channel.lab.laws import Law, laws
from channelsim.channel.lab.sites.deals import deals_at
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.games.contract import Valid
from tests.channel.lab.broken import target_file

NO_PAIRS = (
    *("spacepoker/hands.clinc", "(fields -4 groups (c boost (fields 0 groups ())))"),
    "(if (= (lsh (f groups) -4) 3) (fields -4 groups (list boost (logand 15 (f groups))))"
    " (fields -4 groups (c boost (fields 0 groups ()))))",
)
"""Of three of a kind, alone or in a full house, the other cards are not compared."""


def agree() -> Law:
    return next(law for law in laws() if law.name == "verdicts agree")


def showdowns(target: Target) -> list[Site]:
    ends = (hand[-1] for hand in hands(target, b"worst"))
    sites = [site_of(target, turn) for turn, _ in zip(ends, range(200), strict=False)]
    return [site for site in sites if site.validator == "end"]


def harmless(target: Target) -> tuple[SiteCase, Finding]:
    """A case with a difference that costs nobody anything: the waiter holds better evidence."""
    chance, meetings = FastChance(b"harmless"), Meetings(target)
    for site in showdowns(target):
        if (drawn := deals_at(target, site)) is None:
            continue
        for deal in drawn.draw(chance, 100):
            pairs = meetings.pairs(site, deal.state, deal.move)
            place = drawn.place(deal) if pairs else None
            if place is None:
                continue
            for call in meetings.at_the_limit(place, pairs):
                case = make_case(place, "test", *call)
                for finding in broken_by(target, agree(), case):
                    if finding.severity == DISAGREEMENT and finding.order_only:
                        return case, finding
    raise AssertionError("no such case")


def test_a_harmless_case_has_a_variant_that_no_evidence_slashes(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", NO_PAIRS)))
    case, finding = harmless(target)
    assert finding.cause.startswith("SP-END-5")
    worse = worst_variant(target, agree(), case, finding, ())
    assert worse is not None
    assert worse.finding.severity in (THEFT, UNSLASHABLE)
    assert worse.finding.lost > 0
    again = broken_by(target, agree(), worse.case)
    assert worse.finding.cause in {other.cause for other in again}


EIGHT_BITS = (
    *("spacepoker/end.clsp", "(if (is_selection evidence) "),
    "(if (is_mask evidence 5) ",
)
"""Evidence with the top bit set selects four cards."""


@pytest.mark.long
def test_evidence_that_the_rules_refuse_slashes_a_legal_move_in_another_hand(
    tmp_path: Path,
) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", EIGHT_BITS)))
    for site in showdowns(target):
        case = make_case(site, "test", site.play.move, site.play.share, b"\x8f")
        (finding,) = broken_by(target, agree(), case)
        if finding.severity == DISAGREEMENT:
            break
    assert finding.cause == "SP-END-4: valid"
    worse = worst_variant(target, agree(), case, finding, ())
    assert worse is not None
    assert worse.finding.severity == THEFT
    assert worse.finding.lost > 0
    ruling, _ = worse.case.site.ruling(target, worse.case.move, worse.case.share)
    assert isinstance(ruling, Valid)


EVIDENCE_FIRST = (
    *("calpoker/e.clsp", "(= (strlen MOVE) 18) "),
    "(if (= (strlen evidence) 1) 1 (x)) (= (strlen MOVE) 18) ",
)


def test_a_matter_of_order_has_none(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "calpoker", EVIDENCE_FIRST)))
    turn = next(
        turn for hand in hands(target, b"o") for turn in hand if turn.before.validator == "e"
    )
    site = site_of(target, turn)
    move = bytes([site.play.move[0] ^ 1]) + site.play.move[1:]
    case = make_case(site, "test", move, site.play.share, b"")
    (finding,) = broken_by(target, agree(), case)
    assert finding.order_only
    assert worst_variant(target, agree(), case, finding, ()) is None


@pytest.mark.parametrize("turned", [False, True])
def test_of_one_cause_the_case_by_which_a_side_may_lose_is_kept(turned: bool) -> None:
    some = [
        Finding(rule="law", place="end", severity=DISAGREEMENT, text="text", order_only=order_only)
        for order_only in (True, False)
    ]
    tally = LabTally()
    for each in reversed(some) if turned else some:
        tally.found(each)
    assert [(kept.order_only, kept.times) for kept in tally.findings] == [(False, 2)]


def test_griefing_says_what_follows(tmp_path: Path) -> None:
    raises = ("spacepoker/commitB.clsp", "(= (strlen MOVE) 32)", "(if (= (strlen MOVE) 32) (x) 0)")
    target = load(str(target_file(tmp_path, "spacepoker", raises)))
    turn = next(
        turn for hand in hands(target, b"g") for turn in hand if turn.before.validator == "commitB"
    )
    site = site_of(target, turn)
    case = make_case(site, "test", *(site.play.move, site.play.share, site.held[0]))
    (finding,) = broken_by(target, agree(), case)
    assert finding.severity == GRIEFING
    assert (
        f"paid the {site.play.share:,} of {site.amount:,} mojo"
        in shrunk(target, case, finding, 1).text
    )
