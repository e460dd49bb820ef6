"""Mistakes in the files, the watcher and the lines of a side, each in a directed session."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.filled_blocks import due_limits
from channelsim.channel.attack.world import run
from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.protocol.wallet import Wallet, wallet_key
from channelsim.channel.simulation.terms import Proposals, Terms
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.sampling import one_in, one_row_in

TABLE = {fault.name: fault for fault in faults()}

SIDES = (0, 1)
DOWN = tuple(Action("stop", side, 1, since="unroll", blocks=16) for side in SIDES)
ON_CHAIN = (Action("go-on-chain", 0, 23), *DOWN)
PAYING = Terms(fees=10**9, max_fee=10**10, max_fees=10**11)
TOGETHER = Terms(proposals=Proposals.TOGETHER)


def script(
    *actions: Action,
    games: tuple[str, ...] = ("calpoker",),
    snapshots: int = 7,
    watched: bool = False,
    terms: Terms | None = None,
) -> Attack:
    """A session of two hands."""
    terms = terms or Terms()
    return Attack(games, "around", actions, snapshots=snapshots, watched=watched, terms=terms)


PLAIN = script()
CRASH = script(Action("crash", 1, 21), Action("stop", 1, 38))
CHAIN = script(*ON_CHAIN, watched=True)
CHAIN_AND_FEES = script(*ON_CHAIN, watched=True, terms=PAYING)
FORGOTTEN = script(
    *ON_CHAIN,
    *(
        Action("push-forgotten", side, call, since="unroll", blocks=2)
        for side in SIDES
        for call in range(0, 60, 2)
    ),
    watched=True,
)
LIMITS = script(
    Action("limit-fees", 1, 20, 0),
    Action("limit-fees", 1, 4, 2, since="restart"),
    terms=PAYING,
)
SILENCE = script(
    *(Action("silence", 1, message, 1) for message in (8, 11, 13, 16)),
    *(Action("silence", 0, message, 1) for message in (9, 12, 15)),
)
HIDDEN = script(
    Action("go-on-chain", 0, 33),
    *(
        Action("solutions-hidden", side, call, since="counts", blocks=2)
        for side in SIDES
        for call in (0, 3)
    ),
    games=("calpoker", "spacepoker"),
    terms=TOGETHER,
)
ANSWERS_AGAIN = script(
    Action("deviate", 0, 0, name="answers-again"),
    Action("go-on-chain", 0, 20),
    *(
        Action("think", 1, at, pause=80, since=since)
        for at in SIDES
        for since in ("counts", "move")
    ),
)
ASKED = script(
    Action("go-on-chain", 0, 24),
    Action("stop", 1, 1, since="move"),
    Action("stop", 0, 3, since="counts"),
    games=("spacepoker",),
)
LONELY = script(
    Action("go-on-chain", 1, 20),
    Action("stop", 1, 1, since="chain", blocks=8),
    Action("stop", 0, 1, since="chain"),
)
FULL = script(Action("store-full", 1, 42), Action("stop", 1, 1, since="restart"), snapshots=50)
COPY = script(
    Action("old-copy", 1, 20, 6, pause=2),
    Action("stop", 1, 0, since="chain", blocks=15),
    watched=True,
)
EARLY = script(Action("stop", 0, 4), Action("stop", 1, 5))
FORGOTTEN_SHUTDOWN = script(Action("old-copy", 0, 27, 2))
TORN = script(Action("watch-torn", 0, 4))
OFTEN = script(Action("crash", 1, 18, 1), Action("crash", 1, 35, 1), snapshots=1)
DECKS = script(Action("prepare", 1, 12), Action("crash", 1, 22, 2, pause=13), games=("five-draw",))

SEEN = (
    ("restart-asks-about-no-proposal", "restart", ASKED),
    ("restart-knows-newest-signatures", "restart", PLAIN),
    ("overview-says-that-all-is-completed", "overview", PLAIN),
    ("overview-has-older-balances", "overview", OFTEN),
    ("overview-ahead-of-its-events", "overview", FULL),
    ("copies-no-log", "store", PLAIN),
    ("waits-for-the-link-again", "node", LONELY),
    ("watch-data-swap-the-rewards", "watch-data", PLAIN),
    ("watch-data-of-a-shallow-depth", "watch-data", PLAIN),
    ("watch-data-wait-for-a-new-state", "watch-data", TORN),
    ("watcher-ends-at-what-it-does-not-know", "watcher", COPY),
    ("watcher-says-dropped-for-good", "watcher", FORGOTTEN),
    ("watcher-is-silent-about-drops", "watcher", FORGOTTEN),
    ("watcher-has-one-key", "watcher", CHAIN_AND_FEES),
    ("watcher-calls-the-newest-bad", "watcher", CHAIN),
    ("children-of-one-coin", "node", HIDDEN),
    ("reports-a-pin-twice", "node", CHAIN_AND_FEES),
    ("answers-in-any-position", "asks", ANSWERS_AGAIN),
    ("older-connection-stays-open", "link", SILENCE),
    ("prints-acts-without-amounts", "lines", PLAIN),
    ("prints-no-reason-of-a-burnt-deck", "lines", DECKS),
    ("prints-no-forfeited-game", "lines", CHAIN),
    ("shows-the-others-turn", "overview", CRASH),
    ("shows-the-others-shares", "overview", CRASH),
    ("shows-games-that-are-over", "overview", CHAIN),
    ("shows-dues-of-the-other", "overview", CHAIN),
    ("shows-no-game-coins", "overview", CHAIN),
    ("shows-no-funding-deadline", "overview", EARLY),
    ("maxima-replace-each-other", "times", LIMITS),
    ("maxima-of-the-beginning", "times", LIMITS),
)


@pytest.mark.parametrize(
    ("fault", "monitor", "attack"), one_row_in(6, SEEN), ids=[name for name, *_ in SEEN]
)
def test_a_mistake_is_seen_by_its_monitor_alone(fault: str, monitor: str, attack: Attack) -> None:
    with fast_mode(), ExitStack() as stack:
        TABLE[fault].plant(stack, Reach())
        assert {violation.monitor for violation in run(attack).violations} == {monitor}


RIGHT = {id(attack): attack for attack in (*(attack for *_, attack in SEEN), FORGOTTEN_SHUTDOWN)}


@pytest.mark.parametrize("attack", one_in(3, RIGHT.values()))
def test_without_a_mistake_nothing_is_seen(attack: Attack) -> None:
    with fast_mode():
        assert run(attack).violations == ()


def test_maxima_that_are_not_named_stay() -> None:
    wallet = Wallet(wallet_key(b"secret", "fees"), Coin(bytes(32), bytes(32), 9))
    fees, asked = Fees(wallet, 5, 9), FeeLimits(3, None)
    assert due_limits(fees, None, asked) == FeeLimits(3, 9)
    assert due_limits(fees, FeeLimits(4, 8), asked) == FeeLimits(3, 8)
    assert due_limits(fees, FeeLimits(3, 8), asked) == FeeLimits(3, 8)
    assert due_limits(fees, None, FeeLimits(5, None)) is None
    assert due_limits(None, None, asked) is None
    assert due_limits(fees, FeeLimits(4, 8), FeeLimits(None, None)) == FeeLimits(4, 8)
