"""Hands with a lie: what an honest player does after it, and a mistake that shows only there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws.verdicts_agree import LAW
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.lies import Liars, taken
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.channel.system.time_limit import time_limit
from channelsim.clsp.compiler import compile_programs
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Hidden, PlainPlayer, Seat, Slash, Terms, Valid
from tests.channel.lab.broken import target_file
from tests.channel.lab.sealed import sealed_game
from tests.paths import ROOT


def liars(target: Target, seed: bytes) -> Liars:
    made = Liars(target, FastChance(seed))
    for hand in islice(hands(target, seed), 20):
        for turn in hand:
            made.known[turn.before.validator or ""].append(turn.play)
    return made


@pytest.mark.parametrize(("game", "exposes"), [("spacepoker", 30), ("calpoker", 3)])
def test_an_honest_player_goes_on_legally_after_a_lie(game: str, exposes: int) -> None:
    target = of_game(registry.get(game))
    some = liars(target, b"lies")
    after_a_lie, refused = 0, 0
    for _ in range(40):
        for place in some.places():
            assert place.lie
            assert place.reach == "one player's own choice"
            ruling, _ = place.ruling(target, place.play.move, place.play.share)
            assert isinstance(ruling, Valid) == (taken(target, place) is not None)
            if place.guessed:  # the liar receives it
                after_a_lie += 1
                assert isinstance(ruling, Valid), (place.lie, place.validator)
            else:
                refused += not isinstance(ruling, Valid)
    assert after_a_lie > 20
    assert refused >= exposes  # the liar's own logic goes on as if it had not lied


def test_hands_end_though_a_program_leads_them_round_and_round(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    game = sealed_game(tmp_path, "SHOW_HASH sealed 17", "program_hash sealed 0", "wait")
    monkeypatch.setattr(registry, "get", lambda name: game)
    with time_limit(20):
        places = list(Liars(of_game(game), FastChance(b"round")).places())
    assert places


COPIED = (
    *("spacepoker/begin_round.clsp", "(= MOVER_SHARE (- (/ AMOUNT 2) half_pot)) "),
    "(if (= mover_image waiter_image) 1 (= MOVER_SHARE (- (/ AMOUNT 2) half_pot)))",
)
"""Shares that are not checked once a player has committed to its opponent's commitment."""


def test_a_mistake_that_shows_only_after_a_lie_is_found(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", COPIED)))
    some, chance, tally = liars(target, b"lies"), FastChance(b"cases"), LabTally()
    for _ in range(60):
        for place in some.places():
            cases = Mutator(target, place, chance).cases(32)
            trial = Trial(target, RefereeRunner(target), place, cases, chance, tally)
            for finding in LAW.check(trial):
                tally.found(finding)
    findings = tally.causes()
    assert {finding.place for finding in findings} == {"begin_round"}
    assert "unslashable cheat" in {finding.severity for finding in findings}
    assert {finding.reach for finding in findings} == {"one player's own choice"}


# --- hidden values -----------------------------------------------------------------------------

LENGTH = "(= (strlen MOVE) 16)"


@pytest.fixture(params=[LENGTH, "1"])
def hiding(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Target:
    """Parity whose secret is declared: right, or without the rule about the secret's length."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "parity"))
    parity = import_module("parity")
    for source in Path(parity.__file__ or "").parent.glob("*.clsp"):
        (tmp_path / source.name).write_text(source.read_text().replace(LENGTH, request.param))

    def player(
        seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]
    ) -> PlainPlayer:
        secret = hidden.get("secret", b"")
        return PlainPlayer(seat, terms, parity.initial(terms).position, secret, parity.moves)

    secret = Hidden("secret", lambda chance: chance.bytes(16), possible, (Seat.ALICE,))
    programs = compile_programs(tmp_path, parity.VALIDATORS)
    game = replace(parity.GAME, name="hiding", hidden=(secret,), player=player, programs=programs)
    monkeypatch.setattr(registry, "get", {"hiding": game}.__getitem__)
    return of_game(game)


def possible(chance: Chance, legal: bytes) -> bytes:
    return legal[: chance.below(16)] if chance.chance(50) else chance.bytes(16)


def test_a_player_that_hides_what_the_rules_forbid_is_tried(hiding: Target) -> None:
    some, exposed = liars(hiding, b"hidden"), 0
    unslashed: list[str] = []
    for _ in range(20):
        for place in some.places():
            if not place.lie.startswith("Alice hides 0x") or place.validator != "reveal":
                continue
            move, share = place.play.move, place.play.share
            ruling, _ = place.ruling(hiding, move, share)
            if ruling == Slash("PARITY-REVEAL-1"):
                exposed += 1
                unslashed += [place.lie] if taken(hiding, place) is not None else []
    assert exposed > 5
    right = hiding.programs == import_module("parity").GAME.programs
    assert bool(unslashed) != right
