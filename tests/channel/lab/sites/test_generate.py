"""Places are taken from all of a hand: none of its moves is passed over for ever."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites
from channelsim.channel.lab.sites.hands import hands
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
