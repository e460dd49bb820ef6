"""One finding for each mistake: consequences stand under it, independent ones never do."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.findings.finding import DISAGREEMENT, GRIEFING, THEFT, UNSLASHABLE, Finding
from channelsim.channel.findings.finding_files import FindingFiles, file_name
from channelsim.channel.lab.cases.case import make_case
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.fuzz.findings import described, root, shrunk, still_broken
from channelsim.channel.lab.fuzz.fuzz import counter
from channelsim.channel.lab.fuzz.fuzz_part import FuzzPart
from channelsim.channel.lab.fuzz.grouping import grouped
from channelsim.channel.lab.fuzz.shrink import broken_by
from channelsim.channel.lab.laws import laws
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.sites.site import make_site
from channelsim.channel.lab.targets.loading import load
from channelsim.clsp.values import NIL
from tests.channel.lab.broken import target_file
from tests.channel.lab.fuzzing import searched
from tests.sampling import one_row_in

TARGET = load("calpoker")


def finding(
    cause: str,
    severity: str = THEFT,
    validator: str = "end",
    *,
    follows: str = "",
    fields: int = 1,
    order_only: bool = False,
) -> Finding:
    return Finding(
        rule="verdicts agree",
        place=validator,
        severity=severity,
        text=cause,
        cause=cause,
        fields=(fields, fields),
        follows=follows,
        order_only=order_only,
    )


def shown(*found: Finding) -> dict[str, int]:
    """The causes that are listed, in their order, each with how many stand under it."""
    return {one.cause: len(one.also) for one in grouped(found)}


def test_a_recorded_case_stands_under_the_law_that_shows_the_same_there() -> None:
    recorded = [
        msgspec.structs.replace(finding(cause), rule="recorded cases")
        for cause in ("a legal move is slashed (1)", "leads elsewhere: next state differs (2)")
    ]
    slashed, state = (
        finding("a legal move is slashed"),
        finding("leads elsewhere: the state of end"),
    )
    assert shown(*recorded) == {case.cause: 0 for case in recorded}
    assert shown(*recorded, slashed) == {recorded[1].cause: 0, slashed.cause: 1}
    assert shown(*recorded, slashed, state) == {slashed.cause: 1, state.cause: 1}
    other = finding("a legal move is slashed", validator="begin")
    assert len(grouped([*recorded, other])) == 3


INDEPENDENT = [
    ("SP-END-2", "SP-END-3"),
    ("SP-END-2: raise", "SP-END-3: raise"),
    ("leads elsewhere: the state of end", "leads elsewhere: the size limit of end"),
    ("leads elsewhere: the state of end", "leads elsewhere: the state of mid_round"),
    ("a legal move is slashed", "a legal move is slashed: SP-END-4"),
    ("not bound: bytes 0 to 15", "not bound: bytes 16 to 31"),
    ("misdeclared: commitment", "misdeclared: size limit"),
    ("two encodings: the share as a pair", "two encodings: the size limit as a pair"),
    ("forged: another state", "forged: another validator"),
]


@pytest.mark.parametrize("causes", INDEPENDENT)
def test_independent_causes_are_listed_each(causes: tuple[str, str]) -> None:
    one, two = map(finding, causes)
    assert shown(one, two) == shown(two, one) == dict.fromkeys(causes, 0)
    assert len({file_name(described(TARGET, each)) for each in (one, two)}) == 2


CONSEQUENCES = [
    ("SP-END-2", "SP-END-2: raise"),
    ("two encodings: the share as a pair", "two encodings: the share as one byte more"),
    ("misdeclared: commitment", "misdeclared: terminal flag"),
    ("misdeclared: size limit", "misdeclared: size limit of nothing"),
    ("slash path", "misdeclared: commitment"),
]


@pytest.mark.parametrize("causes", CONSEQUENCES)
def test_a_consequence_stands_under_its_cause(causes: tuple[str, str]) -> None:
    one, two = finding(causes[0], UNSLASHABLE), finding(causes[1], UNSLASHABLE, fields=2)
    assert shown(one, two) == shown(two, one) == {causes[0]: 1}


def test_a_finding_that_follows_from_another_stands_under_it() -> None:
    cause = finding("SP-END-3: raise", THEFT)
    other = finding("SP-END-2", UNSLASHABLE)
    follows = finding("SP-END-2: raise", DISAGREEMENT, follows="SP-END-3: raise", fields=2)
    assert shown(follows, other, cause) == {"SP-END-3: raise": 1, "SP-END-2": 0}
    assert shown(follows, other) == {"SP-END-2": 1}  # its cause is not found: as before
    assert shown(follows) == {"SP-END-2: raise": 0}


@pytest.mark.parametrize("severity", [THEFT, UNSLASHABLE])
def test_a_theft_by_a_rule_of_its_own_never_stands_under_another_finding(severity: str) -> None:
    for leading in (THEFT, UNSLASHABLE, GRIEFING, DISAGREEMENT):
        cause = finding("SP-END-3: raise", leading)
        theft = finding("SP-END-2: raise", severity, follows="SP-END-3: raise", fields=2)
        assert shown(theft, cause) == {"SP-END-3: raise": 0, "SP-END-2: raise": 0}
    # By the same rule it is the same mistake, and the theft leads.
    harmless = finding("SP-END-2: slash", DISAGREEMENT)
    assert shown(harmless, theft) == {"SP-END-2: raise": 1}


def test_a_chain_of_consequences_stands_under_its_first_cause() -> None:
    cause = finding("SP-END-3: raise")
    middle = finding("SP-END-2: raise", GRIEFING, follows="SP-END-3: raise", fields=2)
    last = finding("SP-END-4: raise", GRIEFING, follows="SP-END-2: raise", fields=3)
    assert shown(last, middle, cause) == {"SP-END-3: raise": 2}
    assert shown(last, middle) == {"SP-END-2: raise": 1}  # the first cause is not found


def test_a_campaign_counts_what_it_lists(tmp_path: Path) -> None:
    """In its chart, its files and its list: a consequence is no finding of its own."""
    cause = finding("SP-END-3: raise")
    follows = finding("SP-END-2: raise", DISAGREEMENT, follows="SP-END-3: raise", fields=2)
    every = [described(TARGET, one) for one in (follows, cause)]
    files = FindingFiles(tmp_path)
    counts, listed = counter(TARGET)(FuzzPart(1, True, LabTally(), every, [], {}))
    files.write(listed)
    assert counts["findings"] == len(grouped(every)) == len(list(tmp_path.iterdir())) == 1


def test_two_that_follow_from_each_other_are_both_listed() -> None:
    one = finding("SP-END-2: raise", follows="SP-END-3: raise")
    two = finding("SP-END-3: raise", follows="SP-END-2: raise")
    assert shown(one, two) == {"SP-END-2: raise": 0, "SP-END-3: raise": 0}


def test_findings_by_which_no_side_loses_are_last() -> None:
    order = finding("SP-END-1: raise", DISAGREEMENT, order_only=True)
    worse = finding("progress", GRIEFING)
    stopped = finding("SP-END-4: valid, stopped", DISAGREEMENT)
    found = grouped([order, stopped, worse])
    assert [one.order_only for one in found] == [False, False, True]
    real = finding("SP-END-1", UNSLASHABLE)
    assert shown(order, real) == {"SP-END-1": 1}  # the same rule: a consequence


def test_evidence_before_rules_is_a_matter_of_order(tmp_path: Path) -> None:
    """The program looks at the evidence first: `()` fails, the opponent's own slashes."""
    place = "(= (strlen MOVE) 18) "
    change = ("calpoker/e.clsp", place, f"(if (= (strlen evidence) 1) 1 (x)) {place}")
    target = load(str(target_file(tmp_path, "calpoker", change)))
    turn = next(turn for turn in plain_hands(target, b"order") if turn.before.validator == "e")
    site = make_site(target, turn.before, turn.play, turn.amount, turn.receiver)
    (agree,) = (law for law in laws() if law.name == "verdicts agree")
    move = bytes([site.play.move[0] ^ 1]) + site.play.move[1:]
    without, held = (
        make_case(site, "order", move, site.play.share, evidence)
        for evidence in (NIL, site.evidence(move)[-1])
    )
    assert broken_by(target, agree, held) == ()
    (found,) = broken_by(target, agree, without)
    assert (found.severity, found.order_only) == (DISAGREEMENT, True)
    written = shrunk(target, without, found, 1)
    assert [msgspec.to_builtins(part) for part in written.compared] == [
        {"part": "verdict", "expected": "slash", "actual": "raise"}
    ]
    assert written.source_line.startswith(f"{tmp_path}/tree/calpoker/e.clsp:")


@pytest.mark.parametrize(
    ("changes", "order_only"),
    one_row_in(
        2,
        [
            ([("(is_mask evidence 5)", "(any (is_mask evidence 5) (is_mask evidence 6))")], False),
            (
                [
                    ("(is_mask evidence 5)", "(if (l evidence) 0 (is_mask evidence 5))"),
                    ("      (x)\n", "      (q 0 0 0)\n"),
                ],
                True,
            ),
        ],
    ),
)
def test_evidence_that_the_program_judges_by_mistake_is_no_matter_of_order(
    changes: list[tuple[str, str]], order_only: bool, tmp_path: Path
) -> None:
    """Six cards win no hand here, but may on another move; without a judgement they never do."""
    edits = [("calpoker/e.clsp", *change) for change in changes]
    target = load(str(target_file(tmp_path, "calpoker", *edits)))
    turn = next(turn for turn in plain_hands(target, b"order") if turn.before.validator == "e")
    site = make_site(target, turn.before, turn.play, turn.amount, turn.receiver)
    (agree,) = (law for law in laws() if law.name == "verdicts agree")
    masks = (bytes([mask]) for mask in range(1, 256) if mask.bit_count() == 6)
    found = [
        one
        for mask in masks
        for one in broken_by(
            target,
            agree,
            make_case(site, "order", site.play.move, site.play.share, mask),
        )
        if one.severity == DISAGREEMENT
    ]
    assert found
    assert {one.order_only for one in found} == {order_only}


@pytest.mark.long
def test_a_combination_of_two_mistakes_stands_under_one_of_them(tmp_path: Path) -> None:
    changes = [
        ("spacepoker/end.clsp", "(= (sha256 (substr MOVE 0 16)) mover_image)", "1"),
        ("spacepoker/end.clsp", "(is_selection (substr MOVE 16))", "1"),
    ]
    target = load(str(target_file(tmp_path, "spacepoker", *changes)))
    result = searched(target, "two", 1_000_000)
    found = [one for one in grouped(result.findings) if not one.order_only]
    assert {root(one)[1] for one in found} == {"SP-END-2", "SP-END-3"}
    assert all(one.fields[1] == 1 for one in found)
    for one in found:
        assert still_broken(target, msgspec.to_builtins(one)) != []
