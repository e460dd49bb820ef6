"""Fields of news: what is right is not found, and each other value is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.news_fields import false_news
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.errors import Blame
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Forfeited,
    GameEnded,
    GamePaid,
    GameVoid,
    LeftForChain,
    MovedOnChain,
    RevealAtRisk,
    StateCounts,
    Undone,
    UnilateralClose,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    Cancelled,
    ChannelOpen,
    Effect,
    FundingSent,
    GameSettled,
    News,
    OldCopy,
    OpeningFailed,
    OwnFault,
    Received,
    Send,
    ShutdownStarted,
    Tell,
)
from channelsim.channel.protocol.messages import Batch, Cancel, Settle, Shutdown, encode
from channelsim.channel.protocol.state import Side

HALF = bytes(96)
CONFIG: Any = SimpleNamespace(side=Side.INITIATOR, peer="the receiver", name="initiator")


def coin(name: int, parent: bytes = bytes(32), amount: int = 100) -> Coin:
    return Coin(parent, bytes([name]) * 32, amount)


CHANNEL = coin(1)
UNROLL = coin(2, CHANNEL.id)
GAME = coin(3, UNROLL.id)
MOVED = coin(4, GAME.id)
OURS, THEIRS = coin(5, GAME.id, 70), coin(6, GAME.id, 30)

COINS = (
    CoinSeen(CHANNEL, 2, 11, None),
    CoinSeen(UNROLL, 11, 14, None),
    CoinSeen(GAME, 14, 18, None),
    CoinSeen(MOVED, 18, None, None),
)

LIVE: Any = SimpleNamespace(id=4, shares=lambda: (70, 30), mover=Side.INITIATOR)
FOUR: Any = SimpleNamespace(number=4, balances=(60, 40), games=(), groups=(), game={4: LIVE}.get)
STATES = {4: FOUR}


def state(*reported: Any, on_chain: bool = False, **fields: Any) -> Any:
    """The state of the initiator, in state 5 of a channel of which it can complete state 4."""
    play = SimpleNamespace(
        state=SimpleNamespace(number=5, balances=(60, 40), game=FOUR.game, groups=()),
        newest=SimpleNamespace(state=FOUR),
        history=SimpleNamespace(numbered=STATES.get),
    )
    dispute = SimpleNamespace(
        endpoint=SimpleNamespace(channel=SimpleNamespace(coin=CHANNEL, unroll_timeout=20)),
        newest=play.newest,
        reported=reported,
        slashable={7: None},
        tracked={GAME: SimpleNamespace(game=LIVE)},
    )
    opened = SimpleNamespace(channel=SimpleNamespace(coin=CHANNEL), deadline=30)
    return SimpleNamespace(
        opening=SimpleNamespace(opened=opened),
        play=play,
        dispute=dispute if on_chain else None,
        block=Block(20, COINS),
        shown=9,
        closed=None,
        **fields,
    )


def found(news: News, *messages: bytes, event: Any = None, after: Any = None) -> list[str]:
    effects: list[Effect] = [*map(Send, messages), Tell(news)]
    after = after or state()
    return [*false_news(CONFIG, event or Block(20), after, after, effects)]


BLAME = Blame("the receiver", "play", "CH-MOVE-1", "no")
CLOSED = ChannelClosed((UNROLL,), 11)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (FundingSent(CHANNEL, 30), FundingSent(CHANNEL, 31)),
        (ChannelOpen(CHANNEL, 20), ChannelOpen(CHANNEL, 2)),
        (ChannelOpen(CHANNEL, 20), ChannelOpen(UNROLL, 20)),
        (OpeningFailed(30), OpeningFailed(20)),
        (ShutdownStarted(False, (60, 40)), ShutdownStarted(True, (60, 40))),
        (ShutdownStarted(False, (60, 40)), ShutdownStarted(False, (40, 60))),
        (CLOSED, ChannelClosed((UNROLL,), 12)),
        (CLOSED, ChannelClosed((OURS,), 11)),
        (OldCopy(9, 5), OldCopy(5, 9)),
        (LeftForChain("so", 4), LeftForChain("so", 5)),
        (OwnFault("so", 4), OwnFault("so", None)),
        (UnilateralClose(11), UnilateralClose(20)),
        (BrokenOff(BLAME, 4), BrokenOff(BLAME, 5)),
        (BrokenOff(BLAME, 4), BrokenOff(Blame("me", "play", "CH-MOVE-1", "no"), 4)),
        (BrokenOff(BLAME, 4), BrokenOff(BLAME, 4, (7,))),
    ],
)
def test_news_of_the_channel(right: News, wrong: News) -> None:
    assert found(right) == []
    assert found(wrong)


def test_news_of_a_shutdown_says_who_asked_for_it() -> None:
    asks = encode(Shutdown(HALF))
    assert found(ShutdownStarted(True, (60, 40)), asks) == []
    assert len(found(ShutdownStarted(False, (60, 40)), asks)) == 1


def test_news_of_play_are_those_of_the_batches() -> None:
    group: Any = SimpleNamespace(id=5, proposer=Side.RECEIVER)
    cancels = Received(encode(Batch(4, (Cancel(5, "no"), Settle(4)), HALF, HALF)))
    settles = encode(Batch(5, (Settle(4),), HALF, HALF))
    for right, wrong in (
        (Cancelled(group, False, "no"), Cancelled(group, True, "no")),
        (Cancelled(group, False, "no"), Cancelled(group, False, "")),
        (GameSettled(4, False, 70, 30), GameSettled(4, False, 30, 70)),
        (GameSettled(4, False, 70, 30), GameSettled(4, True, 70, 30)),
    ):
        assert found(right, event=cancels) == []
        assert len(found(wrong, event=cancels)) == 1
    assert found(GameSettled(4, True, 70, 30), settles) == []


COUNTS = StateCounts(4, True, False, (coin(7, UNROLL.id, 60), coin(8, UNROLL.id, 40)), (), 14)
PAID = GamePaid(4, "", OURS, THEIRS, 18)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (COUNTS, StateCounts(4, False, False, COUNTS.rewards, (), 14)),
        (COUNTS, StateCounts(4, True, True, COUNTS.rewards, (), 14)),
        (COUNTS, StateCounts(4, True, False, COUNTS.rewards[::-1], (), 14)),
        (COUNTS, StateCounts(4, True, False, COUNTS.rewards, ((4, GAME),), 14)),
        (COUNTS, StateCounts(4, True, False, COUNTS.rewards, (), 15)),
        (MovedOnChain(4, True, MOVED, 18), MovedOnChain(4, False, MOVED, 18)),
        (MovedOnChain(4, True, MOVED, 18), MovedOnChain(4, True, MOVED, 20)),
        (MovedOnChain(4, True, MOVED, 18), MovedOnChain(6, True, MOVED, 18)),
        (RevealAtRisk(4, MOVED, 2), RevealAtRisk(4, MOVED, 0)),
        (GamePaid(4, "us", OURS, None, 18), GamePaid(4, "them", OURS, None, 18)),
        (GamePaid(4, "us", OURS, None, 18), GamePaid(4, "us", OURS, None, 19)),
        (GamePaid(4, "us", OURS, None, 18), GamePaid(4, "us", OURS, THEIRS, 18)),
        (Forfeited(4, GAME, 100), Forfeited(4, GAME, 0)),
        (GameVoid(6, 4), GameVoid(6, 5)),
        (GameEnded(4, 70, 30), GameEnded(4, 30, 70)),
        (ChannelSettled(4, 60, 40), ChannelSettled(4, 60, 39)),
        (Undone(CLOSED), Undone(COUNTS)),
    ],
)
def test_facts_are_those_of_the_coins(right: News, wrong: News) -> None:
    reported = (UnrollSeen(3, UNROLL, 11), COUNTS, PAID)
    after = state(*reported, on_chain=True)
    before = state(CLOSED, on_chain=True)
    assert [*false_news(CONFIG, Block(20), before, after, [Tell(right)])] == []
    assert [*false_news(CONFIG, Block(20), before, after, [Tell(wrong)])]


def test_a_start_tells_nothing_new() -> None:
    """A process that starts again tells what its player may not have heard."""
    told = [Tell(OpeningFailed(7))]
    assert [*false_news(CONFIG, None, state(), state(), told)] == []
