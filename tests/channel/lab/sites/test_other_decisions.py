"""Hidden decisions that no honest player makes, and the mistakes that show only by them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from channelsim.channel.lab.cases.case import make_case
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws.verdicts_agree import LAW
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites, site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.hash_paths import HashPaths, rehashed, unopened
from channelsim.channel.lab.sites.lies import Liars
from channelsim.channel.lab.sites.other_decisions import other_decision, unoffered_plays
from channelsim.channel.lab.sites.replays import replayed
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games import registry
from channelsim.games.contract import Action, Game, PlainPlayer, Seat
from tests.channel.lab.sealed import MOST, image_of, initial, moves, sealed_game
from tests.sampling import one_in

CHECKED = "(is_number (substr MOVE 16) most)"
MISTAKES = {
    "any number": (CHECKED, "1"),
    "one more": (CHECKED, "(is_number (substr MOVE 16) (+ most 1))"),
}
OF_BYTES = {
    "a negative number": ("(> number -1)", "1"),
    "two encodings": ("(= number (+ number 0))", "1"),
}


@pytest.fixture
def target_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Game], Target]:
    def known(game: Game) -> Target:
        get = registry.get
        monkeypatch.setattr(registry, "get", lambda name: game if name == game.name else get(name))
        return of_game(game)

    return known


def findings_at(target: Target, site: Site) -> set[tuple[str, str]]:
    call = site.play.move, site.play.share, site.play.evidence
    cases = [make_case(site, "own", *call)]
    trial = Trial(target, RefereeRunner(target), site, cases, FastChance(b"own"), LabTally())
    return {(finding.severity, finding.cause) for finding in LAW.check(trial)}


def test_another_decision_is_one_that_the_player_does_not_offer(tmp_path: Path) -> None:
    game = sealed_game(tmp_path)
    terms = game.terms({"amount": 1000})
    alice = PlainPlayer(Seat.ALICE, terms, initial(terms).position, bytes(16), moves)
    chance = FastChance(b"others")
    numbers: set[int] = set()
    for _ in range(100):
        decided = other_decision(alice, Action("number", 3), chance)
        assert decided is not None
        play, number = decided
        assert play.memory[:1] == bytes([number & 0xFF])
        if number < 128:
            assert play.move == image_of(bytes(16) + play.memory)
        numbers.add(number)
    assert MOST + 1 in numbers
    assert not numbers & set(range(MOST + 1))
    assert other_decision(alice, Action("wait"), chance) is None


def test_generated_places_have_plays_that_the_player_does_not_offer(
    target_of: Callable[[Game], Target], tmp_path: Path
) -> None:
    target = target_of(sealed_game(tmp_path))
    sites = islice(generate_sites(target, b"unoffered", FastChance(b"others"), True), 200)
    numbers = {play.memory for site in sites for play in site.others if play.memory}
    assert bytes([MOST + 1]) in numbers
    assert bytes([MOST]) in numbers  # of other moves of the hand
    bob = next(hands(target, b"unoffered"))[1].player
    assert list(unoffered_plays(bob, FastChance(b"others"))) == []


@pytest.mark.parametrize("mistake", ["", *MISTAKES])
def test_a_liar_decides_what_no_player_may(
    mistake: str, tmp_path: Path, target_of: Callable[[Game], Target]
) -> None:
    target = target_of(sealed_game(tmp_path, *MISTAKES.get(mistake, ())))
    liars = Liars(target, FastChance(b"decisions"))
    places = [place for _ in range(30) for place in liars.places()]
    found = {finding for place in places for finding in findings_at(target, place)}
    assert (("unslashable cheat", "SEALED-SHOW-3") in found) == bool(mistake)
    assert bool(found) == bool(mistake)


@pytest.mark.parametrize("whole_hand", [False, True])
@pytest.mark.parametrize("mistake", one_in(2, ["", *MISTAKES, *OF_BYTES]))
def test_a_number_behind_a_hash_is_replaced(
    mistake: str, whole_hand: bool, tmp_path: Path, target_of: Callable[[Game], Target]
) -> None:
    target = target_of(sealed_game(tmp_path, *{**MISTAKES, **OF_BYTES}.get(mistake, ())))
    paths, chance = HashPaths(target), FastChance(b"numbers")
    found: set[tuple[str, str]] = set()
    opened: set[bytes] = set()
    for hand in islice(hands(target, b"numbers"), 40):
        sites = [site_of(target, turn) for turn in hand]
        path = paths.at(sites[-1])
        assert path is not None
        for _ in range(4):
            if whole_hand:
                places = list(replayed(target, sites, chance, paths=paths))
            else:
                places = [place for place in (rehashed(target, sites[-1], path, chance),) if place]
            for place in places:
                if place.validator == "show" and image_of(place.play.move) in leaves(place.state):
                    opened.add(place.play.move[16:])
                found |= findings_at(target, place)
    assert {b"\x15", b"\x80", b"\x00"} <= opened
    assert (("unslashable cheat", "SEALED-SHOW-3") in found) == bool(mistake)
    assert bool(found) == bool(mistake)


def test_a_commitment_that_nothing_opens_is_tried_with_the_honest_secret(
    tmp_path: Path, target_of: Callable[[Game], Target]
) -> None:
    right = "(= (sha256 2 (sha256 1 (substr MOVE 0 16)) (sha256 1 (substr MOVE 16))) image)"
    wrong = right.replace("(= ", "(= (substr ").replace(" image)", " 0 4) (substr image 0 4))")
    for new, mistaken in ((right, False), (wrong, True)):
        target = target_of(sealed_game(tmp_path, right, new))
        paths, chance = HashPaths(target), FastChance(b"unopened")
        found: set[tuple[str, str]] = set()
        for hand in islice(hands(target, b"unopened"), 4):
            site = site_of(target, hand[-1])
            path = paths.at(site)
            assert path is not None
            other = unopened(target, site, path.roots[0], chance)
            assert other is not None
            assert other.play == site.play
            found |= findings_at(target, other)
        assert found == ({("unslashable cheat", "SEALED-SHOW-2")} if mistaken else set())
