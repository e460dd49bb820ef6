"""A recorded hand with another secret: every state follows from the programs."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.replays import RecordedHands, replayed
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from tests.channel.lab.toys import toy
from tests.menu import DECKS, each_program


def test_a_recorded_hand_is_played_again_with_another_secret(tmp_path: Path) -> None:
    target, chance = load(str(toy(tmp_path))), FastChance(b"replays")
    recorded = RecordedHands(recorded_sites(target))
    lengths, opened, hidden = set(), 0, 0
    for _ in range(200):
        hand = recorded.pick(chance)
        assert [site.validator for site in hand] == ["commit", "bid", "reveal"]
        places = list(replayed(target, hand, chance))
        if not places:
            continue  # the old secret was drawn again
        assert [place.validator for place in places[1:]] == ["bid", "reveal"][: len(places) - 1]
        commit, reveal = places[0], places[-1]
        if reveal.validator != "reveal":
            continue
        assert commit.play.move in set(leaves(reveal.state))
        assert commit.play.move != hand[0].play.move
        if sha256(reveal.play.move).digest() == commit.play.move:
            opened += 1
            lengths.add(len(reveal.play.move))
        else:
            hidden += 1
            assert reveal.play.move == hand[-1].play.move
    assert len(lengths) > 8
    assert opened > 100
    assert hidden


def test_moves_of_a_hand_are_tried_at_its_other_places(tmp_path: Path) -> None:
    target = load(str(toy(tmp_path)))
    for site in recorded_sites(target):
        if site.validator == "bid":
            (image,) = leaves(site.state)
            assert [sha256(play.move).digest() for play in site.others] == [image]


@each_program
def test_a_played_hand_with_a_plain_secret_is_legal_up_to_the_showdown(game: str) -> None:
    target, chance = of_game(registry.get(game)), FastChance(b"plain")
    stream = hands(target, b"plain")
    places: list[Site] = []
    for _ in range(12):
        hand = [site_of(target, turn) for turn in next(stream)]
        for place in replayed(target, hand, chance, plain=True):
            assert place.guessed
            assert place.base in hand
            places.append(place)
    assert bool(places) == (game not in DECKS)  # the secrets of a deck have no commitment here
    for place in places:
        shares = {place.play.share, place.amount}
        assert any(place.ruling(target, place.play.move, share)[0] for share in shares)
