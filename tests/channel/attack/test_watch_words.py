"""The words of a watcher: right ones are not found, and each wrong or missing one is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from channelsim.channel.attack.watch_words import WatchWords
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    Offered,
    SpendIsDropped,
    StakeTooSmall,
)
from channelsim.channel.watch.watch_lines import WatchLine, line_of, notice_text
from channelsim.channel.watch.watcher import Sight, Step

NEWEST = 7
DATA: Any = SimpleNamespace(
    channel=SimpleNamespace(agg_sig_data=bytes(32)),
    newest=SimpleNamespace(state=SimpleNamespace(number=NEWEST)),
)
OPEN = Sight(Step.OPEN, 12, since=3)
WAITS = Sight(Step.STALE, 22, 4, 20, 25, 34, stake=90)
LATE = replace(WAITS, peak=31, late=True)
PAID = Sight(Step.PAID, 40, NEWEST, 36, final=True)
OLD = Sight(Step.PAID, 40, 4, 36, final=True)
SHUT = Sight(Step.SHUT, 40, since=36, final=True)
TAKEN = Offered(PushResult(Answer.ACCEPTED), 5_000)

LOOKS = ((OPEN, None), (WAITS, None), (LATE, TAKEN), (PAID, None), (OLD, None), (SHUT, None))

NOTICES: tuple[Notice, ...] = (
    NoFeeCoin(bytes(32), 500),
    StakeTooSmall(7),
    FeeAtMaximum(900, True),
    FeeAtMaximum(900, False),
    SpendIsDropped(),
    FeesUnknown("the node is away"),
)


def found(
    line: WatchLine | None, sight: Sight, offered: Offered | None = None, words: Any = None
) -> list[str]:
    return [*(words or WatchWords()).looked(sight, offered, NEWEST, (), line)]


@pytest.mark.parametrize(("sight", "offered"), LOOKS)
def test_a_line_says_what_was_seen_and_offered(sight: Sight, offered: Offered | None) -> None:
    right = line_of(sight, DATA, offered)
    assert found(right, sight, offered) == []
    shown = msgspec.structs.asdict(right)
    for name, value in shown.items():
        other = not value if isinstance(value, bool) else 99 if name != "step" else "paid"
        if value == other:
            continue
        wrong = msgspec.structs.replace(right, **{name: other if name != "pushed" else "busy"})
        assert any(f"prints {name} " in how for how in found(wrong, sight, offered)), name


def test_a_change_is_printed_once() -> None:
    words, line = WatchWords(), line_of(OPEN, DATA, None)
    later = replace(OPEN, peak=13)
    assert found(None, OPEN, words=words) == ["prints nothing of what is new"]
    assert found(None, later, words=words) == []
    assert found(msgspec.structs.replace(line, height=13), later, words=words) == [
        "prints again what it has printed"
    ]


@pytest.mark.parametrize("notice", NOTICES)
def test_a_notice_is_told_once_and_with_what_it_is_about(notice: Notice) -> None:
    def told(words: WatchWords, *lines: str) -> list[str]:
        words.complaints += lines
        return [*words.looked(OPEN, None, NEWEST, (notice,), line_of(OPEN, DATA, None))]

    words = WatchWords()
    assert told(words, notice_text(notice, DATA)) == []
    assert "tells of 1 of 0 new notices about fees" in told(words, notice_text(notice, DATA))
    assert "tells of 0 of 1 new notices about fees" in told(WatchWords())
    (how,) = told(WatchWords(), "about fees")
    assert how.endswith(f"of {type(notice).__name__}")


def test_a_failed_look_is_told_once_until_one_succeeds() -> None:
    words = WatchWords()

    def failed(*lines: str) -> list[str]:
        words.complaints += lines
        return [*words.failed("away")]

    assert failed("away") == []
    assert failed() == []
    assert failed("away") != []
    assert [*words.looked(OPEN, None, NEWEST, (), line_of(OPEN, DATA, None))] == []
    assert failed() != []
