"""Places with nothing in them: empty moves, and states that commit to them. A search comes to such
a place once in millions of runs, and goes on from there as from any other."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

import msgspec

from channelsim.channel.lab.cases.case import PLACE, fields, keeping, make_case
from channelsim.channel.lab.cases.mutator import GuidedMutator, Mutator
from channelsim.channel.lab.fuzz.fuzzer import AROUND
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites
from channelsim.channel.lab.sites.site import Site, elsewhere, recommitted
from channelsim.channel.lab.sites.state_changes import disturbed
from channelsim.channel.lab.sites.values import leaves, with_leaf
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.values import NIL
from channelsim.games import registry
from tests.menu import each_game_without_a_deck

MOVES = (b"", b"\0", b"\x80", bytes(2))


def plain(target: Target, site: Site) -> Iterator[Site]:
    """The place with each of these moves, and with commitments to it in the place of all others."""
    for move in MOVES:
        state = site.state
        for at, atom in enumerate(leaves(state)):
            if len(atom) == 32:
                state = with_leaf(state, at, sha256(move).digest())
        play = msgspec.structs.replace(site.play, move=move, evidence=NIL)
        place = elsewhere(target, site, state, site.amount, play, natural=False)
        if place is not None:
            yield place


@each_game_without_a_deck
def test_all_changes_of_a_place_with_nothing_in_it_are_places(game: str) -> None:
    target = of_game(registry.get(game))
    chance, tried = FastChance(b"changes"), 0
    for site in islice(generate_sites(target, b"plain", chance, False), 20):
        for place in plain(target, site):
            case = make_case(place, "plain", place.play.move, place.play.share, NIL)
            guided = GuidedMutator(target, place, chance, case, [case], ())
            changed = [*Mutator(target, place, chance).cases(AROUND), *guided.cases(AROUND)]
            for other in changed:
                assert keeping(other, {PLACE, *fields(other)}).move == other.move
                assert keeping(other, {PLACE}).move == place.play.move
            for _ in range(40):
                recommitted(target, place, chance)
                disturbed(target, place, chance)
            tried += len(changed)
    assert tried > 1000
