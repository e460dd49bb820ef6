"""Sessions in which a side's own program fails, or the funding of the channel is taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.kinds import OWN_FAULT, PLANNED, UNDO_FUNDING
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.situations import Noted
from channelsim.channel.attack.world import run
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.peer.interface import OpeningFailed, OwnFault
from channelsim.channel.session.session_events import NewsFor
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.sampling import one_in, one_row_in

TABLE = {fault.name: fault for fault in faults()}


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with fast_signatures():
        yield


def attacked(*actions: Action, fault: str = "", hands: int = 2) -> Session:
    with ExitStack() as stack:
        if fault:
            TABLE[fault].plant(stack, Reach())
        return run(Attack(("spacepoker",), "s0", actions, hands))


def broken(session: Session) -> str:
    return " ".join(f"{one.monitor}: {one.text}" for one in session.violations)


def told(session: Session, kind: type) -> list[Noted]:
    return [
        noted
        for noted in session.events
        if isinstance(noted.what, NewsFor) and isinstance(noted.what.news, kind)
    ]


FAILS = Action(OWN_FAULT, 1, 20)
FAILS_IN_OPENING = Action(OWN_FAULT, 1, 3)
COMES_BACK = Action("stop", 1, 6, since="chain")


@pytest.mark.parametrize("at", [2, 3, 5, 8, 11, 14, 17, 20, 26, 32])
@pytest.mark.parametrize("side", one_in(2, [0, 1]))
def test_a_side_that_fails_says_so_once_and_leaves_the_channel(at: int, side: int) -> None:
    session = attacked(Action(OWN_FAULT, side, at))
    assert broken(session) == ""
    (noted,) = told(session, OwnFault)
    assert noted.side == side
    assert isinstance(noted.what, NewsFor)
    assert isinstance(noted.what.news, OwnFault)
    assert noted.what.news.reason.endswith(PLANNED)


@pytest.mark.parametrize(
    ("fault", "actions", "says"),
    one_row_in(
        4,
        [
            ("deaf-to-fault-in-playing", [FAILS], "stays in play"),
            ("deaf-to-fault-in-opening", [FAILS_IN_OPENING], "stays in"),
            ("forgets-to-tell-own-fault", [FAILS], "does not hear that the channel is on chain"),
            ("stores-no-fault", [FAILS, COMES_BACK], "restart:"),
            ("blames-for-its-own-fault", [FAILS], "accuses the other side"),
            ("stays-after-its-own-fault", [FAILS], "stays in play"),
            ("publishes-nothing-after-its-own-fault", [FAILS], "publishes no state"),
            ("survives-faults-at-messages-only", [Action(OWN_FAULT, 1, 1)], "ends:"),
        ],
    ),
)
def test_a_side_that_does_otherwise_is_noticed(
    fault: str, actions: list[Action], says: str
) -> None:
    assert broken(attacked(*actions)) == ""
    found = broken(attacked(*actions, fault=fault))
    assert found
    assert says in found


LEAVES = Action("go-on-chain", 0, 24)


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("since", one_in(2, ["", "acted", "chain", "unroll", "counts"]))
def test_a_funding_that_is_taken_back_comes_again(since: str, keep: int) -> None:
    undone = Action(UNDO_FUNDING, 0, 2 if since else 8, keep, since=since)
    session = attacked(undone, LEAVES)
    assert undone in session.done
    assert broken(session) == ""
    assert session.funded


@pytest.mark.parametrize("fault", ["lets-undone-fundings-go", "plays-without-its-coin"])
def test_a_side_that_lets_it_go_is_noticed(fault: str) -> None:
    since = "chain" if fault == "lets-undone-fundings-go" else "acted"
    actions = [Action(UNDO_FUNDING, 0, 2, 0, since=since)]
    if since == "chain":
        actions.append(LEAVES)
    assert "does not publish the funding" in broken(attacked(*actions, fault=fault))


def test_a_funding_that_is_taken_back_after_its_deadline_costs_nothing() -> None:
    """The wallet coins are there again, and both players hear that the opening has failed."""
    session = attacked(LEAVES, Action(UNDO_FUNDING, 0, 16, since="unroll"))
    assert broken(session) == ""
    assert not session.funded
    assert {noted.side for noted in told(session, OpeningFailed)} == {0, 1}
