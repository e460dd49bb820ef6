"""Lines of one peer: what a node answers to its spends, in the node's own words."""

from __future__ import annotations

from typing import Any

import pytest

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.peer.interface import FeeTooLow, News, SpendDropped
from channelsim.channel.peer_text import peer_lines
from channelsim.channel.peer_text.peer_lines import PeerLines
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.session.session_events import NewsFor, Pushed

BUNDLE = Bundle((), NO_SIGNATURE)


def printed(*results: PushResult) -> list[str]:
    lines: list[dict[str, Any]] = []
    show = PeerLines(0, lines.append)
    for result in results:
        show(Pushed("alice", "unroll", BUNDLE, result))
    assert {line["event"] for line in lines} == {"Pushed"}
    return [line["text"] for line in lines]


def test_a_refusal_is_printed_with_its_reason_and_once() -> None:
    poor = PushResult(Answer.REFUSED, "INVALID_FEE_TOO_CLOSE_TO_ZERO")
    low = PushResult(Answer.REFUSED, "INVALID_FEE_LOW_FEE")
    assert printed(poor, poor, low, poor, PushResult(Answer.ACCEPTED)) == [
        "pushes unroll: refused: INVALID_FEE_TOO_CLOSE_TO_ZERO",
        "pushes unroll: refused: INVALID_FEE_LOW_FEE",
        "pushes unroll: accepted",
    ]


def test_what_is_no_refusal_needs_no_reason() -> None:
    conflict = PushResult(Answer.PENDING_CONFLICT, "MempoolConflict")
    assert printed(conflict) == ["pushes unroll: conflicts with a pending bundle"]


def test_a_node_with_ever_new_reasons_does_not_fill_the_memory() -> None:
    reasons = [PushResult(Answer.REFUSED, f"reason {number}") for number in range(5000)]
    assert len(printed(*reasons)) == peer_lines.MOST_PUSHED


@pytest.mark.parametrize(
    ("news", "says"),
    [
        (
            FeeTooLow("unroll", 50_000_000),
            "unroll is not confirmed, and its fee of 50,000,000 mojos rises no more: it is at the"
            " maximum",
        ),
        (
            SpendDropped("preempt"),
            "the node has dropped preempt, and takes it with another fee only",
        ),
    ],
)
def test_a_player_is_told_of_a_fee_that_does_not_suffice_and_what_to_do(
    news: News, says: str
) -> None:
    lines: list[dict[str, Any]] = []
    PeerLines(0, lines.append)(NewsFor("alice", news))
    (line,) = lines
    assert line["event"] == type(news).__name__
    advice = "to allow more, stop and start again with --max-fee and --max-fees"
    assert line["text"] == f"{says}; {advice}"
