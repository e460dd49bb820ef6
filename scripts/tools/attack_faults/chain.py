"""Faults in the money that states pay, and in what a peer does on chain."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from channelsim.channel.peer.onchain import decisions, scan, scan_games
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.phases import blocks, closing, leaving
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.protocol import transitions
from scripts.tools.attack_faults.deadlines import blocks_off
from scripts.tools.attack_faults.planting import (
    Fault,
    changing,
    function,
)


def _swapped(state: Any) -> Any:
    return replace(state, balances=state.balances[::-1])


def _cut(settled: Any) -> Any:
    state, ended = settled
    return replace(state, balances=(state.balances[0] - 1, state.balances[1] + 1)), ended


def _of(view: Any, state: Any) -> Any:
    """The newest signed state, taken to have this number."""
    newest = view.dispute.newest
    return replace(newest, state=replace(newest.state, number=state.number))


BY_HAND = (
    Fault(
        "swaps-balances-at-the-shutdown",
        "engine",
        "a shutdown pays each side the other's balance",
        function(
            CleanShutdown,
            "of",
            lambda right, endpoint, newest: right(endpoint, _swapped(newest)),
        ),
    ),
    Fault(
        "settles-a-mojo-short",
        "engine",
        "a settlement gives the initiator's last mojo to the receiver",
        changing(transitions, "_settle", _cut),
    ),
    Fault(
        "swaps-balances-at-the-unroll",
        "engine",
        "a settlement swaps both balances",
        changing(transitions, "_settle", lambda settled: (_swapped(settled[0]), settled[1])),
    ),
    Fault(
        "funds-once",
        "chain",
        "the funding is not pushed again",
        function(blocks, "_fund_again", lambda right, state: (state, [])),
    ),
    Fault(
        "never-times-out-the-funding",
        "chain",
        "it waits for the funding for ever",
        function(blocks, "_fund_again", blocks_off(1000)),
    ),
    Fault(
        "publishes-with-the-next-block",
        "chain",
        "it leaves off-chain play, and publishes nothing before the next block",
        function(leaving, "_publish", lambda right, state: (state, [])),
    ),
    Fault(
        "rewards-not-watched",
        "chain",
        "it does not look for the coins of a shutdown",
        changing(closing, "_watch_rewards", lambda effects: []),
    ),
    Fault(
        "takes-a-state-for-another",
        "chain",
        "it takes a published state for the one before it",
        function(
            scan,
            "_unspent_unroll",
            lambda right, view, state, seen: right(
                view, replace(state, number=state.number - 1), seen
            ),
        ),
    ),
    Fault(
        "lets-stale-states-stand",
        "chain",
        "it does not compare a published state with its newest",
        function(
            scan,
            "_unspent_unroll",
            lambda right, view, state, seen: right(
                replace(view, dispute=replace(view.dispute, newest=_of(view, state))), state, seen
            ),
        ),
    ),
    Fault(
        "swaps-paid-coins",
        "chain",
        "its player hears of the wrong coins that a game paid",
        changing(scan_games, "paid_coins", lambda paid: paid[::-1]),
    ),
    Fault(
        "forgets-what-ended-off-chain",
        "chain",
        "a game that was settled off chain ends on chain as if it had not",
        changing(SignedGames, "ended_off_chain", lambda payout: None),
    ),
    Fault(
        "moves-where-it-settled",
        "chain",
        "it plays on from the coin at which it settled a game",
        changing(SignedGames, "settled_by_us", lambda settled: False),
    ),
    Fault(
        "gives-up-games",
        "chain",
        "it lets a game go in which something is due to it",
        changing(
            scan_games,
            "decide",
            lambda decision: (
                decisions.LetGo() if isinstance(decision, decisions.ClaimTimeout) else decision
            ),
        ),
    ),
    Fault(
        "undoes-nothing",
        "chain",
        "a fact that a reorganisation took back stays",
        function(
            scan,
            "_changes",
            lambda right, before, now: [fact for fact in now if fact not in before],
        ),
    ),
    Fault(
        "reports-facts-again",
        "chain",
        "a fact is told with every block",
        function(scan, "_changes", lambda right, before, now: [*now]),
    ),
    Fault(
        "forgets-the-reorganised-shutdown",
        "chain",
        "a shutdown that a reorganisation took back is not published again",
        changing(blocks, "_push_shutdown", lambda effects: []),
    ),
)
"""Faults that cost somebody money, or time."""
