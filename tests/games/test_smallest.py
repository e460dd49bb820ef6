"""The small game `examples/parity`: another author's package, judged and played like ours."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module

import pytest

from channelsim.games.contract import Action, Game, Seat, Slash, Valid
from channelsim.games.errors import BadTerms, IllegalAction
from channelsim.games.hidden import seated
from tests.games.table import Table, ask_both, by_policy
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "parity"
AMOUNT = 200
SECRET = bytes(15) + b"\x07"
COMMIT = sha256(SECRET).digest()


@pytest.fixture(scope="module")
def parity() -> Iterator[Game]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE))
        yield import_module("parity").GAME


def deal(game: Game) -> Table:
    terms = game.terms(game.default_parameters(1, AMOUNT // 2))
    secrets = (SECRET, bytes(16))
    alice, bob = (seated(game, seat, terms, secrets[seat]) for seat in Seat)
    return Table(terms, (alice, bob), game)


@pytest.mark.parametrize(
    ("before", "move", "share", "rule"),
    [
        ("commit", COMMIT, 0, None),
        ("commit", COMMIT[:-1], 0, "PARITY-COMMIT-1"),
        ("guess", b"\x01", 0, None),
        ("guess", b"", 0, None),
        ("guess", b"\x00", 0, "PARITY-GUESS-1"),
        ("guess", b"\x03", 0, "PARITY-GUESS-1"),
        ("reveal", SECRET, AMOUNT, None),
        ("reveal", SECRET[1:], AMOUNT, "PARITY-REVEAL-1"),
        ("reveal", bytes(16), AMOUNT, "PARITY-REVEAL-2"),
        ("reveal", SECRET, AMOUNT - 1, "PARITY-REVEAL-3"),
    ],
)
def test_rules_and_programs_agree(
    parity: Game, before: str, move: bytes, share: int, rule: str | None
) -> None:
    table = deal(parity)
    for action in ("commit", "odd")[: list(parity.validators).index(before)]:
        table.step(Action(action))
    verdict = ask_both(table.position, move, share, AMOUNT, game=parity)
    assert verdict == Slash(rule) if rule else isinstance(verdict, Valid)


@pytest.mark.parametrize(("guess", "payouts"), [("odd", (0, AMOUNT)), ("even", (AMOUNT, 0))])
def test_the_right_guess_wins(parity: Game, guess: str, payouts: tuple[int, int]) -> None:
    table = deal(parity)
    for action in ("commit", guess, "reveal", "accept"):
        assert parity.read_action(table.players[table.position.mover], action) == Action(action)
        table.step(Action(action))
    assert table.payouts == payouts
    summary = parity.summary(table.hand, None)
    assert summary["payouts"] == dict(zip(("ann", "ben"), payouts, strict=True))
    assert summary["result"]["winner"] == ("ben" if guess == "odd" else "ann")
    (line,) = parity.story.result(table.hand, None)
    assert line[0][0] == f"paid out: ann {payouts[0]:,} mojos, ben {payouts[1]:,} mojos"


def test_what_an_author_leaves_out_has_a_default(parity: Game) -> None:
    assert parity.parts == ("commit", "guess", "reveal")
    table = deal(parity)
    assert parity.part(table.position) == "commit"
    table.play(by_policy("random", "a", parity), by_policy("random", "b", parity))
    assert [parity.part(step.before) for step in table.steps[:3]] == list(parity.parts)
    bare = Game(
        name=parity.name,
        validators=parity.validators,
        rules=parity.rules,
        terms=parity.terms,
        initial=parity.initial,
        player=parity.player,
        programs=parity.programs,
    )
    assert bare.title == bare.name == "parity"
    with pytest.raises(BadTerms):
        bare.terms({"amount": 3})
    bob = table.players[Seat.BOB]
    assert bob.evidence(table.position, b"") == ()
    assert bob.advisory() is None


@pytest.mark.parametrize("text", ["", "sing", "odd 3", "commit"])
def test_a_wrong_action_is_refused(parity: Game, text: str) -> None:
    table = deal(parity)
    table.step(Action("commit"))
    with pytest.raises(IllegalAction):
        parity.read_action(table.players[Seat.BOB], text)
