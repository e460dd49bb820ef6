"""Lines of news: the real ones leave nothing out, and those of the other side do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.line_facts import left_out
from channelsim.channel.attack.printed_lines import PrintedLines
from channelsim.channel.chain.coins import Coin
from channelsim.channel.errors import Blame
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Forfeited,
    GameEnded,
    GamePaid,
    GameVoid,
    IllegalOnChain,
    LeftForChain,
    MovedOnChain,
    RevealAtRisk,
    StateCounts,
    Undone,
    UnilateralClose,
    UnknownGame,
    UnknownSpend,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    Acted,
    BrokenOff,
    Cancelled,
    ChannelOpen,
    DeckBurnt,
    DeckReady,
    FeeTooLow,
    FundingSent,
    GameSettled,
    Moved,
    NearLimit,
    News,
    NotProposed,
    OldCopy,
    OpeningFailed,
    OwnFault,
    ShutdownStarted,
    SpendDropped,
)
from channelsim.channel.peer_text.news_text import news_text
from channelsim.channel.session.session_events import BlockMade, NewsFor
from channelsim.games.contract import Action

COIN = Coin(bytes(32), bytes(32), 1234)
GROUP: Any = SimpleNamespace(id=5)
POSITION: Any = None

ONE_SIDED = [
    Moved(4, POSITION, POSITION, 1, ()),
    ShutdownStarted(True, (70, 30)),
    GameSettled(4, True, 70, 1234),
    GameEnded(4, 70, 30),
    ChannelSettled(8, 70, 30),
    MovedOnChain(4, True, COIN, 9),
    GamePaid(4, "us", COIN, None, 9),
    GamePaid(4, "", COIN, None, 9),
    UnilateralClose(9),
    Undone(MovedOnChain(4, False, COIN, 9)),
]
"""News that one side hears otherwise than the other."""

OTHERS = [
    FundingSent(COIN, 30),
    ChannelOpen(COIN, 9),
    OpeningFailed(30),
    Cancelled(GROUP, True, "no"),
    UnrollSeen(7, COIN, 9),
    StateCounts(7, True, True, (COIN, None), ((4, COIN),), 9),
    StateCounts(7, False, False, (COIN, COIN), (), 9),
    GameVoid(4, 7),
    BrokenOff(Blame("the receiver", "play", "CH-MOVE-1", "so"), 7),
    OwnFault("it failed", None),
    LeftForChain("so", 7),
    OldCopy(9, 7),
    FeeTooLow("claim", 1_000_000),
    SpendDropped("claim"),
    NearLimit("100 states"),
    NotProposed((), "no"),
    Acted(4, Action("raise", 1_000), POSITION, POSITION, POSITION),
    DeckReady(3),
    DeckBurnt(3, "", 0, "it is late"),
    UnknownSpend(COIN, 9),
    UnknownGame(COIN, 9),
    IllegalOnChain(4, "SP-BET-1", COIN),
    RevealAtRisk(4, COIN, 2),
    Forfeited(4, COIN, 30),
    ChannelClosed((COIN,), 9),
]


@pytest.mark.parametrize("us", [0, 1])
@pytest.mark.parametrize("news", [*ONE_SIDED, *OTHERS])
def test_a_line_names_sides_amounts_and_states(news: News, us: int) -> None:
    assert [*left_out(news, us, news_text(news, us))] == []
    assert [*left_out(news, us, "something")]


@pytest.mark.parametrize("us", [0, 1])
@pytest.mark.parametrize("news", [one for one in ONE_SIDED if one != ONE_SIDED[1]])
def test_the_line_of_the_other_side_is_found(news: News, us: int) -> None:
    assert [*left_out(news, us, news_text(news, 1 - us))]


def test_who_asks_for_the_shutdown_is_said() -> None:
    by_us, by_them = (ShutdownStarted(ours, (70, 30)) for ours in (True, False))
    assert [*left_out(by_us, 0, news_text(by_them, 0))]
    assert [*left_out(by_them, 0, news_text(by_us, 0))]


def printed(height: int | None, *events: Any) -> list[str]:
    found: list[str] = []
    lines = PrintedLines(0, found.append, lambda: height)
    for event in events:
        lines(event)
    return found


def test_a_line_has_the_height_of_its_peer() -> None:
    news = NewsFor("initiator", GameEnded(4, 70, 30))
    assert printed(8, BlockMade(8), news) == []
    assert printed(8, news) == []  # before the first look at the chain
    assert printed(None, BlockMade(8), news) == []
    assert printed(9, BlockMade(8), news) == ["prints GameEnded at height 8, and it is 9"]
