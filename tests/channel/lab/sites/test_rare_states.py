"""Secrets are drawn until they lead to states that are hardly ever written in such a way."""

from __future__ import annotations

from itertools import chain

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.honest_play import HELD
from channelsim.channel.lab.sites.rare_states import RareStates, encoding
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.target.target import Target, of_game
from channelsim.clsp.values import to_list
from channelsim.games import registry
from channelsim.games.spacepoker.states import End

TARGET = of_game(registry.get("spacepoker"))


def last_call(target: Target) -> Site:
    """The place of a call on the river, which reveals a preimage of 16 bytes."""
    for turn in chain.from_iterable(hands(target, b"rare")):
        if turn.before.validator == "mid_round" and len(turn.play.move) == 16:
            return site_of(target, turn)
    raise AssertionError("hands never end")


def test_an_encoding_is_rare_until_it_was_seen_twice() -> None:
    rare = RareStates()
    states = [
        to_list([b"\x05", atom]) for atom in (b"\x01", b"\x02", b"\x03", b"", b"", b"", b"\x80")
    ]
    seen = [rare.is_rare("v", state) for state in states]
    assert seen == [True, True, False, True, True, False, True]
    assert rare.is_rare("another", states[0])


def test_a_padded_preimage_is_found_and_played_on_from() -> None:
    site, rare, draws = last_call(TARGET), RareStates(), FastChance(b"draws")
    rare.learn(msgspec.structs.replace(site, validator="end"))
    found: list[Site] = []
    for _ in range(2000):
        found += rare.leading_to(TARGET, site, draws)
    ends = [place for place in found if place.validator == "end"]
    assert any(
        len(atom) == 16 and encoding(atom)[1] == "padded"
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
    assert {place.validator for place in found} == {"mid_round", "end"}
    assert len(found) < 40


def test_the_player_that_drew_again_holds_what_opponents_of_other_hands_held() -> None:
    site, rare, draws = last_call(TARGET), RareStates(), FastChance(b"draws")
    selection = b"\x1f\x2f"
    learnt = msgspec.structs.replace(site, validator="end", held=(b"", selection))
    assert not [
        place
        for _ in range(500)
        for place in rare.leading_to(TARGET, site, draws)
        if place.validator == "end"
    ]
    for number in range(HELD):
        rare.learn(msgspec.structs.replace(learnt, held=(bytes([number]),)))
    rare.learn(learnt)
    found = [place for _ in range(2000) for place in rare.leading_to(TARGET, site, draws)]
    ends = [place for place in found if place.validator == "end"]
    assert ends
    for place in ends:
        held = place.evidence(place.play.move)
        assert selection in held
        assert b"\x00" not in held  # the oldest one is forgotten
        assert len(held) <= HELD + 2
