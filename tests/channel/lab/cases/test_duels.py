"""Duels climb by the rules, and each pair comes at the edge of what is legal."""

from __future__ import annotations

from channelsim.channel.lab.cases.duels import duel
from channelsim.channel.lab.crosscheck.chunks import trials
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games import registry
from channelsim.games.contract import Slash, Valid, Verdict
from tests.menu import DECKS


def places(target: Target) -> list[Site]:
    return [trial.site for trial in trials(target, "duels", 0, 400)]


def judge(target: Target, site: Site, call: tuple[bytes, int, object]) -> Verdict:
    judged = target.game.validators[site.validator].judge
    move, share, evidence = call
    return judged(site.before.state, move, share, site.amount, evidence, target.hashes)  # type: ignore[arg-type]


def test_every_pair_comes_with_the_least_legal_share_and_the_one_below() -> None:
    fought = set()
    for name in set(registry.names()) - DECKS:
        target = of_game(registry.get(name))
        for site in places(target):
            calls = list(duel(target, site, FastChance(name.encode())))
            fought |= {(name, site.validator)} if calls else set()
            for call, below in zip(calls[::2], calls[1::2], strict=False):
                assert isinstance(judge(target, site, call), Valid)
                assert isinstance(judge(target, site, below), Slash)
                assert (call[0], call[2]) == (below[0], below[2])
                assert call[1] > below[1]
    # Only where a showdown is judged does the verdict depend on both selections.
    assert fought == {("spacepoker", "end"), ("calpoker", "e")}


def test_the_same_dice_fight_the_same_duel() -> None:
    target = of_game(registry.get("calpoker"))
    for site in places(target):
        one, same, other = (
            list(duel(target, site, FastChance(seed))) for seed in (b"1", b"1", b"2")
        )
        assert one == same
        assert not one or one != other


def test_a_call_is_written_as_the_cases_are() -> None:
    target = of_game(registry.get("spacepoker"))
    for trial in trials(target, "duels", 0, 200):
        for case in trial.cases:
            written = trial.site.environment(case.move, case.share, case.evidence)
            assert written == case.arguments
