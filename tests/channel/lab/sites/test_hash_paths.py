"""Bytes behind a tree of hashes, where no rules say that there is one: sea battle's boards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws.commitments_are_bound import LAW
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.hash_paths import HashPaths, rehashed
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.replays import RecordedHands, replayed
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.compiler import compile_programs
from channelsim.games import registry
from channelsim.games.contract import Game, Valid
from tests.paths import ROOT
from tests.sampling import one_in

TURN = """(is_true                            ; SEABATTLE-TURN-2
      (substr MOVE 0 17)
      (f incoming)
      (substr MOVE 17 145)
      ours
    )"""
SHOWN = "(= (root board) committed)"
ANSWER = "(is_true (substr MOVE 0 17) {index} (substr MOVE 17 145) {root})"
RIGHT = ANSWER.format(index="(f incoming)", root="ours")

MISTAKES = {
    "no answer is compared": ("turn.clsp", TURN, "1", "turn"),
    "no board is compared": ("board.clinc", SHOWN, "1", "show"),
    "the beginning is compared": (
        *("board.clinc", SHOWN, "(= (substr (root board) 0 2) (substr committed 0 2))", "show"),
    ),
    "another order": (
        *("board.clinc", SHOWN),
        f"(any {SHOWN} (= (node (root (substr board 136)) (root (substr board 0 136))) committed))",
        "show",
    ),
    "another root": (
        *("turn.clsp", TURN),
        f"(any {RIGHT} {ANSWER.format(index='(f incoming)', root='theirs')})",
        "turn",
    ),
    "another leaf": (
        *("turn.clsp", TURN),
        f"(any {RIGHT} {ANSWER.format(index='(logxor 8 (f incoming))', root='ours')})",
        "turn",
    ),
}
"""The file, what stands there, what stands then, and where it shows."""


@pytest.fixture(scope="module")
def game() -> Iterator[Game]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "examples" / "seabattle"))
        game: Game = import_module("seabattle").GAME
        patch.setattr(registry, "get", {game.name: game}.__getitem__)
        yield game


@pytest.fixture(scope="module")
def recorded(game: Game) -> Target:
    """The right programs without rules, and a dozen recorded hands."""
    target = of_game(game)
    turns = [turn for hand in islice(hands(target, b"recorded"), 12) for turn in hand]
    sites = [site_of(target, turn) for turn in turns]
    cases = tuple(
        vector(target, site, call, site.rules_say(target, *call), "honest", number)
        for number, site in enumerate(sites)
        for call in [(site.play.move, site.play.share, site.play.evidence)]
    )
    return replace(target, rules=None, honest=cases)


def with_mistake(recorded: Target, mistake: str, folder: Path) -> Target:
    name, old, new, _ = MISTAKES[mistake]
    for source in (ROOT / "examples" / "seabattle" / "seabattle").glob("*.cl*"):
        text = source.read_text()
        assert source.name != name or text.count(old) == 1
        (folder / source.name).write_text(text.replace(old, new) if source.name == name else text)
    return replace(recorded, programs=compile_programs(folder, recorded.programs))


def broken(target: Target) -> set[str]:
    """The places where the law finds something."""
    tally, chance = LabTally(), FastChance(b"law")
    for site in recorded_sites(target):
        for finding in LAW.check(Trial(target, RefereeRunner(target), site, [], chance, tally)):
            tally.found(finding)
    assert tally.tried[LAW.name] > 100
    return {finding.place for finding in tally.findings}


def test_right_programs_keep_the_law(recorded: Target) -> None:
    assert broken(recorded) == set()


@pytest.mark.parametrize("mistake", one_in(6, MISTAKES))
def test_a_tree_that_is_not_compared_is_found(
    mistake: str, recorded: Target, tmp_path: Path
) -> None:
    assert MISTAKES[mistake][-1] in broken(with_mistake(recorded, mistake, tmp_path))


def test_other_leaves_lead_to_another_root(game: Game) -> None:
    target, chance = of_game(game), FastChance(b"leaves")
    paths, rules = HashPaths(target), set[str]()
    for turn in next(hands(target, b"leaves")):
        site = site_of(target, turn)
        path = paths.at(site)
        assert (path is None) == (site.validator in ("commit", "join"))
        for _ in range(40 if path is not None else 0):
            assert path is not None
            other = rehashed(target, site, path, chance)
            if other is None:
                continue
            assert other.state != site.state
            assert set(leaves(other.state)) - set(leaves(site.state))
            ruling, _ = other.ruling(target, other.play.move, other.play.share)
            rules.add("legal" if isinstance(ruling, Valid) else ruling.rule if ruling else "")
    # Some nothing opens, some have another length, some are boards that no honest player hides.
    assert {"legal", "SEABATTLE-TURN-2", "SEABATTLE-BOARD-1", "SEABATTLE-BOARD-3"} <= rules


def test_a_recorded_hand_is_played_again_with_another_board(recorded: Target) -> None:
    stream, chance = RecordedHands(recorded_sites(recorded)), FastChance(b"again")
    paths, shown = HashPaths(recorded), 0
    for _ in range(20):
        hand = stream.pick(chance)
        places: list[Site] = list(replayed(recorded, hand, chance, paths=paths))
        assert {place.validator for place in places[:1]} <= {"commit", "join"}
        shown += any(place.validator in ("show", "finish") for place in places)
    assert shown > 10
