"""A move that reveals something, and is not safe yet, waits up to its last chance and no longer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from channelsim.channel.peer.onchain.decisions import Decision, MakeMove, Wait, decide
from channelsim.channel.protocol.state import Side

TIMEOUT, BORN = 15, 100


class CoinFields(NamedTuple):
    """The fields of a game coin that a decision reads."""

    timeout: int
    infohash_b: bytes


COIN = CoinFields(TIMEOUT, bytes(32))


def decision(
    age: int, *, spacing: int = 1, confirmations: int = TIMEOUT, first: bool = False
) -> Decision:
    """The decision about a coin of this age at which our move is decided."""
    game: Any = SimpleNamespace(
        mover=Side.INITIATOR, coin=COIN, terms=SimpleNamespace(game="spacepoker")
    )
    signed = SimpleNamespace(sent_from=lambda game: None, settled_by_us=lambda game: False)
    view: Any = SimpleNamespace(
        peak=BORN + age,
        side=Side.INITIATOR,
        dispute=SimpleNamespace(signed_games=signed),
        decided={COIN: "after"},
        endpoint=SimpleNamespace(confirmations=confirmations, spacing=spacing),
    )
    tracked: Any = SimpleNamespace(game=game, player=object(), slashable=None, first=first)
    return decide(view, tracked, BORN)


@pytest.mark.parametrize(("spacing", "last"), [(1, TIMEOUT - 3), (2, TIMEOUT - 6)])
def test_an_unsafe_move_is_made_with_its_last_chance(spacing: int, last: int) -> None:
    assert decision(last - 1, spacing=spacing) == Wait()
    move = decision(last, spacing=spacing)
    assert isinstance(move, MakeMove)
    assert move.risky


@pytest.mark.parametrize("safe", [{"confirmations": 2}, {"first": True}])
def test_a_safe_move_does_not_wait(safe: dict[str, Any]) -> None:
    move = decision(2, **safe)
    assert isinstance(move, MakeMove)
    assert not move.risky
