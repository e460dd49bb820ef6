"""Stakes of pushed spends, and the heights before which they have to be confirmed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.stakes_due import wrong_stakes
from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.interface import Push
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.state import Side

CHANNEL, UNROLL, GAME = (Coin(bytes(32), bytes([name]) * 32, 100) for name in (1, 2, 3))

PLAYED: Any = SimpleNamespace(coin=SimpleNamespace(amount=40, timeout=9), shares=lambda: (15, 25))


def state(*, on_chain: bool = True) -> Any:
    """The state of the receiver, in a dispute that began at height 8."""
    channel = SimpleNamespace(coin=CHANNEL, unroll_timeout=20, contributions=(60, 40))
    endpoint = SimpleNamespace(channel=channel, side=Side.RECEIVER)
    published = SimpleNamespace(balances=(50, 10), games=(PLAYED,))
    dispute = SimpleNamespace(
        endpoint=endpoint,
        began=8,
        tracked={GAME: SimpleNamespace(game=PLAYED)},
        lineage=SimpleNamespace(published=published),
    )
    coins = tuple(
        CoinSeen(coin, born, None, None) for coin, born in ((CHANNEL, 2), (UNROLL, 9), (GAME, 30))
    )
    return SimpleNamespace(
        opening=SimpleNamespace(opened=SimpleNamespace(deadline=33)),
        endpoint=endpoint,
        play=SimpleNamespace(state=SimpleNamespace(balances=(70, 30))),
        dispute=dispute if on_chain else None,
        block=Block(31, coins),
    )


def found(name: str, coin: Coin, stake: int, before: int | None) -> list[str]:
    bundle = Bundle((Spend(coin, b"\x01", b"\x80"),), NO_SIGNATURE)
    return [*wrong_stakes(state(), state(), [Push(name, bundle, stake, before)])]


@pytest.mark.parametrize(("began", "is_right"), [(31, True), (8, False)])
def test_a_side_goes_on_chain_at_the_height_of_its_newest_block(began: int, is_right: bool) -> None:
    after = state()
    after.dispute.began = began
    assert ([*wrong_stakes(state(on_chain=False), after, [])] == []) is is_right


@pytest.mark.parametrize(
    ("name", "coin", "stake", "before"),
    [
        ("funding", CHANNEL, 40, 33),
        ("shutdown", CHANNEL, 30, None),
        ("unroll", CHANNEL, 100, 28),
        ("preempt", UNROLL, 100, 29),
        ("unroll-timeout", UNROLL, 50, None),
        ("claim", GAME, 25, None),
        ("move", GAME, 40, 39),
        ("redo+fee", GAME, 40, 39),
        ("slash", GAME, 40, 39),
    ],
)
def test_a_spend_is_about_what_it_can_lose(
    name: str, coin: Coin, stake: int, before: int | None
) -> None:
    assert found(name, coin, stake, before) == []
    assert len(found(name, coin, stake + 1, before)) == 1
    other = 7 if before is None else before + 1
    assert len(found(name, coin, stake, other)) == 1


def test_spends_that_are_not_known_here_may_be_about_anything() -> None:
    assert found("unpin", GAME, 0, None) == []
    assert found("claim", Coin(bytes(32), bytes(32), 1), 0, None) == []
