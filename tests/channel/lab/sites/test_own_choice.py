"""States that one player brings about by a move that it never makes, and others."""

from __future__ import annotations

from itertools import islice

from channelsim.channel.cli.findings import details
from channelsim.channel.findings.finding import (
    DISAGREEMENT,
    NOBODY_KNOWS,
    OWN_CHOICE,
    PLAYED,
    Finding,
    Reach,
)
from channelsim.channel.lab.cases.case import make_case
from channelsim.channel.lab.cases.severity import assess
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.own_choice import is_own_choice
from channelsim.channel.lab.sites.site import Site, elsewhere
from channelsim.channel.lab.sites.values import leaves, with_leaf
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from channelsim.games.contract import Slash

TARGET = of_game(registry.get("calpoker"))


def changed(site: Site, at: int, atom: bytes, amount: int = 0) -> Site:
    """The site with another atom in its state."""
    state = with_leaf(site.state, at, atom)
    other = elsewhere(TARGET, site, state, amount or site.amount, site.play, natural=False)
    assert other is not None
    return other


def test_a_state_of_other_legal_moves_is_an_own_choice() -> None:
    (hand,) = islice(hands(TARGET, b"s"), 1)
    sites = {turn.before.validator: site_of(TARGET, turn, hand) for turn in hand}
    second = sites["b"]
    assert [place.validator for place, _ in second.led] == ["a"]
    committed = list(leaves(second.state)).index(second.led[0][1].move)
    mine = changed(second, committed, bytes(32))
    assert is_own_choice(TARGET, mine)
    assert not is_own_choice(TARGET, second)  # it is no changed state
    assert not is_own_choice(TARGET, changed(second, committed, bytes(32), second.amount + 2))
    tally = LabTally()
    trial = Trial(TARGET, RefereeRunner(TARGET), mine, [], FastChance(b"t"), tally)
    said = assess(trial, make_case(mine, "x", b"", 0, b""), Slash("CP-B-1"), "valid")
    assert said is not None
    assert said.text.endswith(", in a state that one player can bring about")
    assert said.reach == OWN_CHOICE


def test_only_what_was_played_happens_in_honest_play() -> None:
    def said(reach: Reach) -> list[str]:
        finding = Finding(rule="x", place="b", severity=DISAGREEMENT, text="", reach=reach)
        return list(details(finding))[:-1]

    assert said(PLAYED) == ["this happens in honest play"]
    assert said(OWN_CHOICE) == ["one player can bring this about by its own choice"]
    assert said(NOBODY_KNOWS) == []
