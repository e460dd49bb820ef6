"""The fields of a plug-in's game: each is checked, and those of all our games are right."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from channelsim.games import registry
from channelsim.games.contract import Carry, Game, Hidden
from channelsim.games.forms import Integer, ListOf
from channelsim.games.lemma import Check, Lemma
from channelsim.games.pack import Pack
from channelsim.games.plugin_games import FIELDS, field_problem

GAME = registry.get("calpoker")
BOARD = Hidden("board", lambda chance: chance.bytes(4), lambda chance, legal: chance.bytes(4))

SCORE = Lemma("the score", "score", len, (Integer(0, 9),), ListOf(Integer(0, 1), 2, 2), 1000)
RUNS = Check("the score", "e", "score", lambda chance, first: iter(()), "hands")

WRONG: dict[str, list[object]] = {
    "validators": [{}, {"a/b": GAME.validators["a"]}, {"x": GAME.validators["a"]}],
    "rules": [{7: "a rule"}, {"CP-A-1": 7}, {"CP-A-1": "two\nlines"}],
    "family": ["../calpoker"],
    "title": ["", "red \x1b[31m"],
    "entropy_size": [-1, True, 10**9],
    "deck_positions": [53],
    "limits": [["pot"], {"pot": 7}, {"pot": {"limit": "2"}}],
    "button": [1],
    "carry": [Carry(lambda *_: 7, 7)],  # type: ignore[arg-type]
    "variations": [{}, ("amount",), [{"amount": 2}]],
    "policies": [{}, {"random": 7}, {7: print}],
    "parts": ["streets", (7,)],
    "benchmarks": [{"speed": 7}],
    "pack": [
        Pack(0, lambda cards: {}),
        Pack(53, lambda cards: {}),
        Pack(16, 7),  # type: ignore[arg-type]
        Pack(16, lambda cards: {}, stacked=7),  # type: ignore[arg-type]
        Pack(16, lambda cards: {}, judged={"hand": "showdown"}),
        Pack(16, lambda cards: {}, selections=(7,)),  # type: ignore[arg-type]
    ],
    "lemmas": [
        [SCORE],
        (7,),
        (replace(SCORE, name=""),),
        (replace(SCORE, python=None),),  # type: ignore[arg-type]
        (replace(SCORE, arguments=()),),
        (replace(SCORE, arguments=(ListOf(Integer(0, 1), 2),)),),
        (replace(SCORE, result=ListOf(Integer(0, 1), 2)),),
        (replace(SCORE, cost="low"),),  # type: ignore[arg-type]
        (replace(SCORE, draw=7),),  # type: ignore[arg-type]
    ],
    "checks": [
        [RUNS],
        (7,),
        (replace(RUNS, name=""),),
        (replace(RUNS, function=7),),  # type: ignore[arg-type]
        (replace(RUNS, cases=None),),  # type: ignore[arg-type]
        (replace(RUNS, total=0),),
    ],
    "hidden": [
        [BOARD],
        (7,),
        (BOARD, BOARD),
        (replace(BOARD, name="a/b"),),
        (replace(BOARD, seats=()),),
        (replace(BOARD, seats=(0,)),),  # type: ignore[arg-type]
        (replace(BOARD, legal=7),),  # type: ignore[arg-type]
        (replace(BOARD, possible=None),),  # type: ignore[arg-type]
    ],
}


def test_every_field_is_checked() -> None:
    chosen = {one.name for one in fields(Game)} - {"name", "missing"}
    assert set(FIELDS) == chosen


@pytest.mark.parametrize("name", registry.built_in())
def test_our_games_pass(name: str) -> None:
    assert field_problem(registry.get(name)) == ""


def test_hidden_values_of_several_names_pass() -> None:
    assert field_problem(replace(GAME, hidden=(BOARD, replace(BOARD, name="key")))) == ""


@pytest.mark.parametrize("name", FIELDS)
def test_what_a_field_cannot_hold_is_named(name: str) -> None:
    for wrong in (object(), *WRONG.get(name, ())):
        # A game checks the names of its validators and programs when it is made.
        game = replace(GAME)
        object.__setattr__(game, name, wrong)
        assert field_problem(game).startswith("its "), wrong
        assert len(field_problem(game).splitlines()) == 1


def test_a_pack_has_the_cards_of_its_games_deck() -> None:
    pack = Pack(3, lambda cards: {})
    game = replace(GAME, deck_positions=4, pack=pack)
    assert field_problem(game) == (
        "its pack deals 3 of 52 cards, but its deck has 4 positions and 52 cards"
    )
    assert field_problem(replace(game, deck_positions=3)) == ""
