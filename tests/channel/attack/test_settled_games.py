"""Games that were settled off chain: what is right about them on chain, and each mistake."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.settled_games import wrong_after_settling
from channelsim.channel.peer.chain_news import GameEnded
from channelsim.channel.peer.interface import Push, Tell
from channelsim.channel.protocol.state import Side


def game(game_id: int, coin: str) -> Any:
    return SimpleNamespace(id=game_id, coin=coin, shares=lambda: (70, 30))


def state(*games: Any) -> Any:
    return SimpleNamespace(games=games, game={game.id: game for game in games}.get)


def found(effect: Any) -> list[str]:
    """The mistakes of a receiver that settled game 4 at its second coin; game 6 is live."""
    history = (
        state(game(6, "live")),
        state(game(4, "second"), game(6, "live")),
        state(game(4, "first")),
    )
    tracked = {
        coin: SimpleNamespace(game=game(game_id, coin))
        for game_id, coin in ((4, "first"), (4, "second"), (6, "live"))
    }
    after: Any = SimpleNamespace(
        play=SimpleNamespace(
            state=history[0], history=[SimpleNamespace(state=state) for state in history]
        ),
        dispute=SimpleNamespace(endpoint=SimpleNamespace(side=Side.RECEIVER), tracked=tracked),
    )
    return [*wrong_after_settling(after, [effect])]


@pytest.mark.parametrize(
    ("news", "text"),
    [
        (GameEnded(4, 0, 100, corrects=True), ""),
        (GameEnded(4, 0, 100), "on chain alone"),
        (GameEnded(4, 30, 70, corrects=True), "hears again"),
        (GameEnded(6, 30, 70), ""),
        (GameEnded(6, 30, 70, corrects=True), "had ended off chain"),
    ],
)
def test_news_of_an_end_agree_with_what_was_settled(news: GameEnded, text: str) -> None:
    how = found(Tell(news))
    assert len(how) == bool(text)
    assert all(text in one for one in how)


@pytest.mark.parametrize(
    ("name", "coin", "is_right"),
    [
        ("move", "first", True),
        ("move", "live", True),
        ("move", "second", False),
        ("move+fee", "second", False),
        ("claim", "second", True),
    ],
)
def test_nothing_moves_at_the_coin_of_a_settlement(name: str, coin: str, is_right: bool) -> None:
    bundle: Any = SimpleNamespace(spends=[SimpleNamespace(coin=coin)])
    assert (found(Push(name, bundle)) == []) is is_right
