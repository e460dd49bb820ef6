"""A mistake that only rare hands show is found where they are dealt; a right program shows none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.lab.cases.deal_search import DealSearch
from channelsim.channel.lab.mutants.report import all_mutants
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.run import ProgramSlash, ProgramValid, Raised, run_serialized
from channelsim.games import registry
from channelsim.games.calpoker.pack import PACK
from channelsim.games.calpoker.states import StateE
from channelsim.games.contract import Slash, State, Valid
from channelsim.games.pack import Cards, Pack
from channelsim.plugins import WrongAnswer
from tests.channel.lab.broken import target_file

ROUNDS = 450
"""Rounds of the search within which a mistake is found."""

SOME = 40
"""Rounds in which a right program is compared with the rules."""


def straight_flush_among_quads(game: str, folder: Path) -> tuple[Target, str, bytes]:
    """The game, a validator, and its program with a straight flush among the fours of a kind."""
    target = of_game(registry.get(game))
    if game == "calpoker":
        change = "calpoker/hands.clinc", "(list 5 high)", "(list 4 1 high)"
        return target, "e", load(str(target_file(folder, game, change))).programs["e"].serialized
    (mutant,) = (
        some
        for some in all_mutants(target, "end")
        if (some.function, some.kind, some.old, some.new) == ("run_key", "constant", "8", "7")
    )
    return target, "end", mutant.program


def searched(target: Target, count: int) -> Iterator[tuple[Site, Call]]:
    """The calls of so many rounds of the search."""
    search = DealSearch(target, b"deals")
    for turn in next(hands(target, b"deals")):
        search.remember(site_of(target, turn))
    for _ in range(count):
        if search.ready:
            for site, calls in search.calls():
                yield from ((site, call) for call in calls)
            assert search.work > 0


def differs(program: bytes, target: Target, site: Site, call: Call) -> bool:
    """True if the program's outcome on a call is not what the rules say."""
    verdict = site.rules_say(target, *call)
    kinds = {Valid: ProgramValid, Slash: ProgramSlash}
    outcome = run_serialized(program, site.environment(*call))
    return not isinstance(outcome, kinds.get(type(verdict), Raised))


@pytest.mark.parametrize("game", [pytest.param("five-draw", marks=pytest.mark.long), "calpoker"])
def test_a_straight_flush_that_ranks_too_low_is_found(game: str, tmp_path: Path) -> None:
    """Once in a game with a prepared deck, once in one with its cards in the state."""
    target, validator, wrong = straight_flush_among_quads(game, tmp_path)
    calls = searched(target, ROUNDS)
    assert any(
        site.natural and differs(wrong, target, site, call)
        for site, call in calls
        if site.validator == validator
    )


@pytest.mark.parametrize("game", [pytest.param("five-draw", marks=pytest.mark.long), "calpoker"])
def test_right_programs_agree_with_the_rules_on_rare_hands(game: str) -> None:
    target = of_game(registry.get(game))
    for site, call in searched(target, SOME):
        assert not differs(target.programs[site.validator].serialized, target, site, call)


@pytest.mark.long
def test_boards_that_decide_who_acts_first_are_tried_at_their_validator() -> None:
    calls = list(searched(of_game(registry.get("five-stud")), 30))
    assert {site.validator for site, _ in calls} == {"begin", "end"}


def test_secrets_are_passed_over_unless_they_lead_to_something_new() -> None:
    target = of_game(registry.get("spacepoker"))
    pack = target.game.pack
    assert pack is not None
    assert pack.read is not None
    calls = searched(target, 12)
    places = {site.play.move[:16]: site for site, _ in calls}
    assert 20 < len(places) < 12 * 256 / 4
    meetings = set()
    for site in places.values():
        assert site.before.state is not None
        cards = pack.read(site.before.state, site.play.move)
        assert cards is not None
        ranks = pack.compared(cards)["hand"]
        meetings.add((ranks[0][0], ranks[1][0]))
    assert len(meetings) > 20


def test_nothing_is_tried_in_a_game_without_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(searched(_with_pack(None, monkeypatch), 3)) == []


def test_a_stacked_state_that_the_reader_refuses_ends_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def one_hand_twice(state: State, move: bytes, cards: Cards) -> tuple[State, bytes] | None:
        place = PACK.stacked(state, move, cards) if PACK.stacked else None
        if place is None or not isinstance(place[0], StateE):
            return None
        return msgspec.structs.replace(place[0], bob_cards=place[0].alice_cards), place[1]

    target = _with_pack(replace(PACK, stacked=one_hand_twice), monkeypatch)
    with pytest.raises(WrongAnswer, match="the reader of e refuses"):
        next(searched(target, 1))


def _with_pack(pack: Pack | None, monkeypatch: pytest.MonkeyPatch) -> Target:
    game = replace(registry.get("calpoker"), pack=pack)
    monkeypatch.setattr(registry, "get", lambda name: game)
    return of_game(game)
