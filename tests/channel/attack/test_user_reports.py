"""Reports of node and link: true ones are not found, and false ones are."""

from __future__ import annotations

from channelsim.channel.attack.user_reports import LinkReports, NodeReports
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import Connected, Received
from channelsim.channel.session.peer_runner import Trouble

LOST = "the connection is lost: the other side closed it"


def node(*steps: str) -> list[str]:
    """A second goes by with each step: a `call`, a `failure`, a `block`, or what the user hears.

    A `slow call` takes a minute. With more coins to look for, one reports the `same block` again.
    """
    clock, peak = [0.0], 0
    reports, found = NodeReports(lambda: clock[0]), list[str]()
    for step in steps:
        clock[0] += 1
        match step:
            case "call":
                reports.answered()
            case "slow call":
                reports.answered()
                clock[0] += 60
            case "failure":
                found += reports.failed()
            case "block" | "same block":
                peak += step == "block"
                reports.answered()
                found += reports.block(peak)
            case reason:
                found += reports.reported(Trouble(reason.strip()))
    return found


def test_a_node_that_answers_nothing_is_reported() -> None:
    silent = ["does not say that its node answers nothing"]
    assert node(*["failure"] * 20) == silent
    assert node("failure", "it is away", *["failure"] * 20) == []
    assert node(*["failure"] * 10, "call", *["failure"] * 10) == []
    assert node("failure", "it is away", " ", *["failure"] * 20) == silent


def test_trouble_is_reported_once() -> None:
    assert node("failure", "it is away", "failure", "it is slow", "failure", "it is away") == []
    assert node("failure", "it is away", "it is away") == ["says again: 'it is away'"]


def test_a_node_that_answers_again_is_reported() -> None:
    stays = ["does not say that its node answers again"]
    assert node("failure", "it is away", *["block"] * 18) == stays
    assert node("failure", "it is away", "block", "block", "block") == []
    assert node("failure", "it is away", "block", *["same block"] * 18) == []
    assert node("failure", "it is away", "block", "block", "slow call", "block") == []
    assert node("failure", "it is away", "block", " ", *["block"] * 18) == []
    assert node("failure", "it is away", "block", "block", "failure", *["block"] * 9) == []


def link(*steps: Connected | Received | Block | str) -> list[str]:
    reports, found = LinkReports(lambda: 0.0), list[str]()
    for step in steps:
        if isinstance(step, str):
            found += reports.reported(step)
        else:
            found += reports.follow(step)
    return found


MESSAGE = Received(b"")


def test_a_connection_that_is_used_is_not_called_lost() -> None:
    assert link(Connected(), "connected", MESSAGE, LOST, Block(7)) == []
    assert link(Connected(), "connected", MESSAGE, LOST, Connected(), "connected", MESSAGE) == []
    assert link(Connected(), "connected", LOST, MESSAGE) == [
        f"hears the other side, and says {LOST!r}"
    ]
    assert link("connected", "connected") == ["says again: 'connected'"]
    assert link(Connected(), MESSAGE) == ["hears the other side, and says ''"]


def test_a_loss_is_reported() -> None:
    seconds = [0.0]
    reports = LinkReports(lambda: seconds[0])
    assert [*reports.reported("connected"), *reports.looks_again()] == []
    seconds[0] = 20.0
    assert [*reports.looks_again()] == ["has no connection, and says 'connected'"]
    assert [*reports.reported("no connection to it: refused"), *reports.looks_again()] == []
    assert [*reports.reported(LOST), *reports.looks_again()] == []
