"""Places are taken from all of a hand: none of its moves is passed over for ever."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import chain, islice

import msgspec
import pytest

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites, site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import elsewhere, recommitted
from channelsim.channel.lab.sites.values import leaves, with_leaf
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from tests.menu import each_game


@each_game
def test_every_kind_of_move_is_taken_again_and_again(game: str) -> None:
    target = of_game(registry.get(game))
    turns = list(islice(chain.from_iterable(hands(target, b"turns")), 1000))
    played = Counter((turn.before.validator, len(turn.play.move)) for turn in turns)
    common = {kind for kind, times in played.items() if times > len(turns) / 25}
    taken: list[Counter[tuple[str | None, int]]] = [Counter(), Counter()]
    for number, site in enumerate(
        islice(generate_sites(target, b"sites", FastChance(b"1"), True), 1600)
    ):
        taken[number // 800][site.validator, len(site.play.move)] += 1
    for half in taken:
        assert all(half[kind] >= 4 for kind in common), (common, half)
        by_name = Counter[str | None]()
        for (name, _), times in half.items():
            by_name[name] += times
        assert min(by_name[name] for name in target.programs) > 800 / len(target.programs) / 3


@pytest.mark.parametrize("size", [0, 1, 16, 32])
def test_a_secret_of_any_length_gives_way_to_others(size: int) -> None:
    """Also the empty one, to which a player may have committed."""
    target = of_game(registry.get("spacepoker"))
    turns = (turn for hand in hands(target, b"secrets") for turn in hand)
    site = site_of(target, next(turn for turn in turns if turn.before.validator == "end"))
    at = list(leaves(site.state)).index(sha256(site.play.move[:16]).digest())
    secret = bytes(size)
    state = with_leaf(site.state, at, sha256(secret).digest())
    play = msgspec.structs.replace(site.play, move=secret)
    opens = elsewhere(target, site, state, site.amount, play, natural=True)
    assert opens is not None
    chance = FastChance(b"others")
    others = [recommitted(target, opens, chance) for _ in range(2000)]
    places = [other for other in others if other is not None]
    opened = [place for place in places if sha256(place.play.move).digest() in leaves(place.state)]
    assert len(opened) > 0.9 * len(others)
    assert len({place.play.move for place in opened}) > 20
    assert {size, 16} <= {len(place.play.move) for place in opened}
