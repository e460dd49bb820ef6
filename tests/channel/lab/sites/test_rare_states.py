"""Secrets are drawn until they lead to states that are hardly ever written in such a way."""

from __future__ import annotations

from itertools import chain

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.honest_play import HELD
from channelsim.channel.lab.sites.rare_states import (
    Draw,
    RareStates,
    SecretDraws,
    encoding,
    secret_draws,
)
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.run import Outcome, ProgramValid, run_serialized
from channelsim.games import registry
from channelsim.games.spacepoker.states import End
from channelsim.games.verdicts import Slash

TARGET = of_game(registry.get("spacepoker"))


def last_call(target: Target) -> Site:
    """The place of a call on the river, which reveals a preimage of 16 bytes."""
    for turn in chain.from_iterable(hands(target, b"rare")):
        if turn.before.validator == "mid_round" and len(turn.play.move) == 16:
            return site_of(target, turn)
    raise AssertionError("hands never end")


def run(target: Target, site: Site) -> Outcome:
    """The run of the site's own call."""
    arguments = site.environment(site.play.move, site.play.share, site.play.evidence)
    return run_serialized(target.programs[site.validator].serialized, arguments)


def found(rare: RareStates, site: Site, count: int = 3000) -> list[Site]:
    """The places that rare secrets among so many lead to, drawn a few hundred at a time."""
    draws, chance = prepared(site), FastChance(b"draws")
    return [
        place
        for _ in range(0, count, 300)
        for one in rare.rare(site.validator, [draws.draw(chance.bytes(16)) for _ in range(300)])
        for place in rare.places(TARGET, draws, one.secret, chance)
    ]


def prepared(site: Site) -> SecretDraws:
    draws = secret_draws(TARGET, site)
    assert draws is not None
    return draws


def test_a_draw_runs_the_validator_with_another_secret() -> None:
    site, secret = last_call(TARGET), bytes(range(16))
    draws = prepared(site)
    (place, *_) = RareStates().places(TARGET, draws, secret, FastChance(b"x"))
    assert place.play.move == secret
    again = run(TARGET, place)
    assert isinstance(again, ProgramValid)
    drawn = draws.draw(secret)
    assert (drawn.cost, drawn.encodings) == (again.cost, tuple(map(encoding, leaves(again.value))))
    assert draws.draw(draws.secret) == draws.draw(site.play.move)
    assert bytes(16) in draws.special()


def test_a_secret_of_another_length_is_slashed_by_its_length_alone() -> None:
    site = last_call(TARGET)
    draws = prepared(site)
    secrets = draws.of_other_lengths()
    assert {15, 17} <= set(map(len, secrets))
    assert max(map(len, secrets)) == site.before.max_move_size
    for secret in secrets:
        (place, *_) = RareStates().places(TARGET, draws, secret, FastChance(b"x"))
        assert place.play.move == secret
        verdict = place.rules_say(TARGET, secret, place.play.share, place.play.evidence)
        if len(secret) <= 32:  # longer moves are raises
            assert isinstance(verdict, Slash)
            assert verdict.rule == "SP-MID-5"


def test_a_site_that_opens_nothing_is_not_prepared() -> None:
    site = last_call(TARGET)
    play = msgspec.structs.replace(site.play, move=bytes(16))
    assert secret_draws(TARGET, msgspec.structs.replace(site, play=play)) is None


def test_what_is_rare_is_chosen_twice_and_the_rarest_first() -> None:
    rare = RareStates()
    usual = [Draw(b"\x01", 100, (encoding(b"\x05"),))] * 200
    padded, empty = (
        Draw(b"\x01", 100, (encoding(b"\x00\x05"),)),
        Draw(b"\x01", 100, (encoding(b""),)),
    )
    slow = Draw(b"\x01", 110, (encoding(b"\x05"),))
    assert rare.rare("v", usual) == []
    batch = [*usual, padded, padded, padded, empty, slow]
    assert rare.rare("v", batch) == [empty, slow]
    assert rare.rare("v", batch) == [empty, slow]
    assert rare.rare("v", batch) == [padded, padded]
    assert rare.rare("v", batch) == []
    assert rare.rare("another", batch) == [empty, slow]


def test_a_padded_preimage_is_found_and_played_on_from() -> None:
    site, rare = last_call(TARGET), RareStates()
    rare.learn(msgspec.structs.replace(site, validator="end"))
    places = found(rare, site)
    ends = [place for place in places if place.validator == "end"]
    assert any(
        len(atom) == 16 and encoding(atom)[2] == "padded"
        for place in ends
        for atom in leaves(place.state)
    )
    for place in ends:
        assert place.natural
        assert place.guessed
        assert isinstance(place.before.state, End)
        # Its move is one of the player that receives the reveal, and legal.
        ruling, _ = place.ruling(TARGET, place.play.move, place.play.share)
        assert ruling is not None
    assert {place.validator for place in places} == {"mid_round", "end"}
    assert len(places) < 40


def test_the_player_that_drew_again_holds_what_opponents_of_other_hands_held() -> None:
    site, selection = last_call(TARGET), b"\x1f\x2f"
    learnt = msgspec.structs.replace(site, validator="end", held=(b"", selection))
    assert all(place.validator != "end" for place in found(RareStates(), site, 600))
    rare = RareStates()
    for number in range(HELD):
        rare.learn(msgspec.structs.replace(learnt, held=(bytes([number]),)))
    rare.learn(learnt)
    ends = [place for place in found(rare, site, 600) if place.validator == "end"]
    assert ends
    for place in ends:
        held = place.evidence(place.play.move)
        assert selection in held
        assert b"\x00" not in held  # the oldest one is forgotten
        assert len(held) <= HELD + 2
