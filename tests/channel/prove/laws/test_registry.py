"""The laws that there are: their names, their documents, and their claims about our own games."""

from __future__ import annotations

import pickle
import re

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.laws import laws as laws_of_the_lab
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.prove.laws import LawClaim, Subject, law_claims, laws, named
from tests.paths import ROOT


def test_each_law_has_the_name_of_one_of_the_lab_and_is_documented() -> None:
    names = {law.name for law in laws()}
    assert names <= {law.name for law in laws_of_the_lab()}
    section = (
        (ROOT / "docs" / "proofs.md").read_text("utf-8").partition("## Laws of one program")[2]
    )
    table = re.findall(r"^\| `([a-z ]+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    assert sorted(table) == sorted(names)


def test_laws_are_named_with_spaces_or_dashes() -> None:
    assert named(["one encoding"]) == named(["one-encoding", "one encoding"])
    assert named([]) == named(["cost", "all"]) == laws()
    with pytest.raises(UsageError, match="no law 'costs'"):
        named(["costs"])


def test_claims_travel_between_processes_and_say_what_they_assume() -> None:
    claims = law_claims(Subject(load("spacepoker"), "begin_round"))
    assert [claim.name for claim in claims] == [law.name for law in laws()]
    for claim in claims:
        copy = pickle.loads(pickle.dumps(claim))
        assert isinstance(copy, LawClaim)
        assert copy.assumes == claim.assumes != ()
        assert all(assumption[0].islower() for assumption in claim.assumes)


def test_a_law_without_honest_moves_says_nothing() -> None:
    names = {claim.name for claim in law_claims(Subject(load("spacepoker"), "commitA"))}
    assert {law.name for law in laws()} - names == {"commitments are bound"}
