"""The memory of a play: given back to the player, and optional for players of other authors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from channelsim.games.answers import MOST_MEMORY, taken_problem
from channelsim.games.contract import (
    Action,
    Game,
    Moves,
    Plain,
    PlainPlayer,
    Play,
    Player,
    Position,
    Seat,
    Terms,
)
from channelsim.games.hidden import seated
from channelsim.games.players import player_after
from channelsim.games.plugin_games import checked
from channelsim.plugins import WrongAnswer
from tests.games import dots
from tests.games.table import by_policy, sit_down

PLAIN_TERMS = dots.GAME.terms(dots.GAME.default_parameters(1, 10))
START = dots.GAME.initial(PLAIN_TERMS).position


@dataclass(frozen=True)
class Forgetful:
    """A player of an author who knows nothing of memories."""

    inner: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "remembered":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def moved(self, position: Position) -> Forgetful:
        return Forgetful(self.inner.moved(position))


def forgetful(seat: Seat, terms: Terms, entropy: bytes, *hidden: Any) -> Player:
    return Forgetful(dots.player(seat, terms, entropy, *hidden))


def test_a_play_is_given_back_to_its_player_only() -> None:
    player = seated(dots.GAME, Seat.BOB, PLAIN_TERMS, bytes(32))
    after = player_after(player, START, b"\x02")
    assert isinstance(after, PlainPlayer)
    assert (after.memory, after.position) == (b"\x02", START)
    kept = player_after(after, START)
    assert isinstance(kept, PlainPlayer)
    assert kept.memory == b"\x02"
    assert "memory" not in repr(after)


def test_a_hand_is_played_to_its_end_by_what_a_player_remembers() -> None:
    for number in range(6):
        table = sit_down(f"memory {number}", game=dots.GAME)
        table.play(by_policy("random", "a", dots.GAME), by_policy("random", "b", dots.GAME))
        assert [play.memory for play in table.sent if play.memory] == [table.sent[-1].move[-1:]]


@pytest.mark.parametrize("seams", [True, False], ids=["plug-in", "own"])
def test_a_player_without_remembered_is_refused_only_if_it_has_a_memory(*, seams: bool) -> None:
    game = replace(dots.GAME, player=forgetful)
    game = checked(game) if seams else game
    player = seated(game, Seat.BOB, PLAIN_TERMS, bytes(32))
    assert player_after(player, START).position == START
    with pytest.raises(WrongAnswer, match=r"Bob's play, which has no method `remembered`"):
        player_after(player, START, b"\x02")


def test_a_plug_in_may_not_return_something_else_than_a_player() -> None:
    @dataclass(frozen=True)
    class Odd(Forgetful):
        def moved(self, position: Position) -> Odd:
            return Odd(self.inner.moved(position))

        def __getattr__(self, name: str) -> Any:
            if name == "remembered":
                return lambda memory: 7
            return super().__getattr__(name)

    game = checked(replace(dots.GAME, player=lambda *args: Odd(dots.player(*args))))
    player = seated(game, Seat.BOB, PLAIN_TERMS, bytes(32))
    with pytest.raises(WrongAnswer, match=r"returned an int, 7: not a player"):
        player_after(player, START, b"\x02")


def remembering(memory: object) -> Game:
    def moves(player: PlainPlayer) -> Moves:
        return {Plain("commit"): Play(bytes(32), 0, memory=memory)}  # type: ignore[arg-type]

    return replace(
        dots.GAME,
        player=lambda *args: replace(dots.player(*args), moves=moves),
    )


@pytest.mark.parametrize("memory", ["a text", None, bytes(MOST_MEMORY + 1)])
def test_a_memory_is_bytes_of_a_bounded_size(memory: object) -> None:
    assert taken_problem(Play(b"", 0, memory=bytes(MOST_MEMORY))) == ""
    player = seated(remembering(memory), Seat.ALICE, PLAIN_TERMS, bytes(32))
    with pytest.raises(WrongAnswer, match=r"the memory of a Play is at most 4,096 bytes"):
        player.act(Action("commit"))
